"""The one lock, and context managers that hold it from snapshot to restore."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import TracebackType
from typing import Generic, ParamSpec, TypeVar

from export_engine.process.generators import generators_kept
from export_engine.process.gpu_checks import gpu_checked
from export_engine.process.interrupts import listen, pending, stop_listening, whole
from export_engine.process.switches import switches_kept

_P = ParamSpec("_P")
_T = TypeVar("_T")

_one = threading.RLock()
"""Patches and snapshots are process-wide, so only one thread at a time may make them."""
_SECONDS = 0.1
"""Seconds between checks for an interrupt while waiting for the lock."""


class Undone(Generic[_T]):
    """A context whose enter and exit are atomic."""

    def __init__(self, inner: AbstractContextManager[_T]) -> None:
        """Make one.

        Args:
            inner: the context to enter under the lock.
        """
        self._inner = inner

    @whole
    def __enter__(self) -> _T:
        listen()
        try:
            _acquire()
        except BaseException:
            stop_listening()
            raise
        try:
            value = self._inner.__enter__()
        except BaseException:
            self._leave()
            raise
        if pending():
            interrupt = KeyboardInterrupt()
            self.__exit__(KeyboardInterrupt, interrupt, None)
            raise interrupt
        return value

    @whole
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        try:
            caught = self._inner.__exit__(kind, error, trace)
        except BaseException as other:
            if self._leave() and not isinstance(other, KeyboardInterrupt):
                raise KeyboardInterrupt from other
            raise
        if self._leave() and (caught or not isinstance(error, KeyboardInterrupt)):
            raise KeyboardInterrupt from error
        return caught

    @whole
    def _leave(self) -> bool:
        """Whether an interrupt is still to be raised."""
        _one.release()
        return stop_listening()


def undone(make: Callable[_P, Iterator[_T]]) -> Callable[_P, Undone[_T]]:
    """As `contextlib.contextmanager`, for what changes something that the process shares.

    The generator runs with the one lock held, and no interrupt comes while it goes to its `yield`
    or on from it; one that did come is raised once it got there.
    """
    manager = contextmanager(make)

    @wraps(make)
    def context(*args: _P.args, **kwargs: _P.kwargs) -> Undone[_T]:
        return Undone(manager(*args, **kwargs))

    return context


@undone
def sandbox() -> Iterator[None]:
    """The context of every action: lock, interrupts, generators, switches, GPU checks. It nests."""
    with generators_kept(), switches_kept(), gpu_checked():
        yield


def _acquire() -> None:
    while not _one.acquire(timeout=_SECONDS):
        if pending():
            raise KeyboardInterrupt
