"""Calls in a fork of this process while it goes on, as a worker of a DataLoader is one.

A fork has all that is in memory, and changes nothing here. It has only the thread that forked, so
it computes with one; a lock that another thread held stays held. So an answer may never come, and
who waits for it needs another way to it.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

from export_engine.defects import passing_over
from export_engine.process.interrupts import raise_if_interrupted
from export_engine.process.lock import undone

_T = TypeVar("_T")
_LEAST, _TIMES = 10.0, 2.0
"""How long an answer is waited for: seconds, and times what has gone by since the fork."""
_STEP = 0.1
"""Seconds between checks for an interrupt."""
_HEADER = 8
"""Bytes that say how long an answer is."""


def can_fork(tensors: Iterable[Any]) -> bool:
    """Whether a fork can compute with these tensors beside this process.

    It takes Linux, a second core, no GPU that is in use, no group of processes, and tensors in
    memory of this process alone.
    """
    import torch

    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        return False
    if threading.current_thread() is not threading.main_thread() or _uses_gpu():
        return False
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return False
    return all(_is_own(tensor) for tensor in tensors if isinstance(tensor, torch.Tensor))


def _uses_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]


def _is_own(tensor: Any) -> bool:
    """Whether no other process sees what is written to a tensor."""
    device = tensor.device.type
    return device == "meta" or (device == "cpu" and not tensor.is_shared())


class Forked(Generic[_T]):
    """The answers of calls that a fork makes one after another."""

    def __init__(self, calls: Mapping[str, Callable[[], _T]]) -> None:
        """Forks.

        Args:
            calls: by name. Their results are pickled; one that raises has no answer.
        """
        self._began = time.monotonic()
        self._answers: dict[str, _T] = {}
        self.is_over = False
        """Whether the fork has said all that it will: it has ended, or died."""
        self._read, write = os.pipe()
        with warnings.catch_warnings():  # Python warns of a fork with threads
            warnings.simplefilter("ignore", DeprecationWarning)
            self._child = os.fork()
        if self._child == 0:
            try:
                _answer(calls, write)
            finally:
                os.kill(os.getpid(), signal.SIGKILL)  # nothing of this process's runs at its end
        os.close(write)

    def wait(self, name: str) -> _T | None:
        """The answer to a call; None if the fork has none, or none in time.

        Raises:
            KeyboardInterrupt: the user interrupted.
        """
        gone = time.monotonic() - self._began
        until = time.monotonic() + max(_LEAST, _TIMES * gone)
        while name not in self._answers:
            answer = self._receive(until)
            if answer is None:
                return None
            self._answers[answer[0]] = answer[1]
        return self._answers[name]

    def end(self) -> None:
        """Ends the fork."""
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        os.close(self._read)

    def _receive(self, until: float) -> tuple[str, _T] | None:
        header = self._bytes(_HEADER, until)
        data = self._bytes(int.from_bytes(header, "little"), until) if header else b""
        return pickle.loads(data) if data else None  # noqa: S301 - from our own fork

    def _bytes(self, count: int, until: float) -> bytes:
        """So many bytes; empty if fewer came in time."""
        data = b""
        while len(data) < count and time.monotonic() < until:
            raise_if_interrupted()
            if select.select([self._read], [], [], _STEP)[0]:
                part = os.read(self._read, count - len(data))
                if not part:
                    self.is_over = True
                    return b""
                data += part
        return data if len(data) == count else b""


@undone
def heap_frozen() -> Iterator[None]:
    """Python's collector leaves alone what is there already; it would walk it over and over.

    A fork shares that memory for longer. A heap that the user has frozen stays so.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@undone
def run_forked(calls: Mapping[str, Callable[[], _T]]) -> Iterator[Forked[_T]]:
    """A fork that makes the calls; it is ended with the block."""
    fork = Forked(calls)
    try:
        yield fork
    finally:
        fork.end()


def ends_python(call: Callable[[], object]) -> bool:
    """Whether a call ends the process that it is made in, as native code may; tried in a fork.

    One that has not ended in time is not known to.

    Raises:
        KeyboardInterrupt: the user interrupted.
    """
    with run_forked({"call": lambda: call() is None, "afterwards": lambda: True}) as fork:
        return fork.wait("afterwards") is None and fork.is_over


def _answer(calls: Mapping[str, Callable[[], Any]], write: int) -> None:
    """Run the fork's work. An interrupt is for the parent process."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.disable()  # should native code end the fork, nobody is to read of it
    torch.set_num_threads(1)  # its threads are gone, and OpenMP would wait for them
    for name, call in calls.items():
        with passing_over(f"checking {name} in a fork"):
            data = pickle.dumps((name, call()))
            _write(write, len(data).to_bytes(_HEADER, "little") + data)


def _write(write: int, data: bytes) -> None:
    with suppress(BrokenPipeError):
        while data:
            data = data[os.write(write, data) :]
