"""A process with limits of time and memory, which ends with all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Literal, NamedTuple, Protocol

_LOOK = 0.1
"""Seconds from one look at the process to the next."""
_MOST_OUTPUT = 16 << 20
"""Bytes of standard output that are kept; the rest is read and dropped."""
_MOST_ERRORS = 4_000
"""Characters of standard error that are kept, from its end."""
_SLACK = 2 << 30
"""Bytes by which what a process may ask for exceeds what it may use: libraries reserve more."""


class LimitedRun(NamedTuple):
    """How a process ended."""

    how: Literal["ended", "time", "memory", "stopped"]
    """By itself, or killed: at a limit, or as asked."""
    code: int
    """The exit code; negative: the number of the signal."""
    output: str
    errors: str
    """The end of standard error."""
    seconds: float
    peak: int
    """The most memory that it and its children used at a look, in bytes."""


class Running(Protocol):
    """A process: a `subprocess.Popen`, or a fork."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def poll(self) -> int | None:
        """The exit code; None while it goes on."""

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. Raises subprocess.TimeoutExpired."""


def start_process(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Running:
    """Starts a program in a session of its own, to be given to `run_limited`.

    Args:
        command: of the program.
        environment: its variables; by default those of this process.
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment) if environment is not None else None,
        start_new_session=True,
    )


def run_limited(
    process: Running,
    request: str,
    seconds: float,
    memory: int,
    stop: threading.Event | None = None,
) -> LimitedRun:
    """Runs a process to its end or to a limit.

    Its standard input has the request and stays open until it has ended, so that it can tell that
    this process has died. On Linux, the system also refuses memory beyond the limit.

    Args:
        process: just started, in a session of its own.
        request: a line for its standard input.
        seconds: the longest that it may take.
        memory: the most bytes that it may use, with its children.
        stop: once set, the process is killed.
    """
    started = time.monotonic()
    assert process.stdin is not None
    output, errors = _Kept(process.stdout, _MOST_OUTPUT), _Kept(process.stderr, -_MOST_ERRORS)
    how: Literal["ended", "time", "memory", "stopped"] = "ended"
    peak = 0
    try:
        _limit(process.pid, memory)
        with suppress(OSError):  # it has died already
            process.stdin.write(request.encode() + b"\n")
            process.stdin.flush()
        while process.poll() is None:
            used = _memory_in_use(process.pid)
            peak = max(peak, used)
            if used > memory:
                how = "memory"
            elif time.monotonic() - started > seconds:
                how = "time"
            elif stop is not None and stop.is_set():
                how = "stopped"
            else:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK)
                continue
            break
    finally:
        _kill(process)
        with suppress(OSError):
            process.stdin.close()
    return LimitedRun(
        how, process.wait(), output.text(), errors.text(), time.monotonic() - started, peak
    )


class _Kept:
    """The text of a stream: its beginning, or with a negative number its end."""

    def __init__(self, stream: IO[bytes] | None, most: int) -> None:
        assert stream is not None
        self._stream, self._most = stream, most
        self._held = bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        self._thread.join(5)  # a grandchild may hold the stream open
        return self._held.decode("utf-8", "replace")

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while piece := self._stream.read1(1 << 16):  # type: ignore[attr-defined]
                self._held += piece
                if self._most < 0:
                    del self._held[: self._most]
                else:
                    del self._held[self._most :]


def _limit(pid: int, memory: int) -> None:
    """Has the system refuse more; a process without rights cannot raise it."""
    if sys.platform != "linux":
        return
    import resource

    with suppress(OSError, ValueError):
        resource.prlimit(pid, resource.RLIMIT_DATA, (memory + _SLACK, memory + _SLACK))
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _family(pid: int) -> list[int]:
    """A process and all that it started, also in sessions of their own."""
    import psutil

    try:
        parent = psutil.Process(pid)
        return [pid, *(child.pid for child in parent.children(recursive=True))]
    except psutil.Error:
        return [pid]


def _memory_in_use(pid: int) -> int:
    """Bytes in use by a process and its children."""
    import psutil

    total = 0
    for number in _family(pid):
        with suppress(psutil.Error):
            total += int(psutil.Process(number).memory_info().rss)
    return total


def _kill(process: Running) -> None:
    """Ends a process and whatever is left of it."""
    family = _family(process.pid) if process.poll() is None else []
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for pid in family:
        with suppress(OSError):
            os.kill(pid, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
