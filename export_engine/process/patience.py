"""How long a model may run on inputs that nobody gave it: a loop on data may never end there."""

from __future__ import annotations

import ctypes
import threading
import time

from export_engine.process.interrupts import whole

ELSEWHERE = 60.0
"""Seconds for a call at changed inputs, where no other call of the model is known."""
_LEAST = 5.0
"""Seconds that any call may take."""
_TIMES = 50
"""How many times as long as the first call the others may take, at other sizes."""
_AGAIN = 5.0
"""After so many seconds a call is told once more: Python drops what is raised in a finalizer."""
_LESS = 4
"""A call after one that did not end has this part of its time."""
_STEPS = 100
"""Python looks for what was raised in a thread at each step of a loop."""


class TookTooLong(Exception):
    """A call had not ended in its time."""


class _Over(BaseException):
    """Raised in a call; not an Exception, so that no model takes it for an error of its own."""


class Patience:
    """A limit on calls of one model: many times what the first of them took, or `ELSEWHERE`."""

    def __init__(self, seconds: float | None = None) -> None:
        """Begins.

        Args:
            seconds: the limit, where the first call is not the user's own; it stays the same.
        """
        self.fair = seconds or 0.0
        self.seconds = seconds
        """The limit of the next call; None for the first."""

    def limited(self) -> Limit:
        """A context manager around one call, in any thread.

        Raises:
            TookTooLong: it had not ended in time. One op that does not return is not stopped.
        """
        return Limit(self)


class Limit:
    """The limit of one call. No interrupt ends its beginning or its end halfway."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._began = 0.0
        self._thread = threading.get_ident()
        self._ended = threading.Event()
        self._rings: threading.Thread | None = None
        self._rang = False

    @whole
    def __enter__(self) -> None:
        self._began = time.monotonic()
        if self._patience.seconds is not None:
            given = (self._patience.seconds,)
            self._rings = threading.Thread(target=self._ring, args=given, daemon=True)
            self._rings.start()

    @whole
    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        patience = self._patience
        if self._rings is None:
            patience.fair = _TIMES * (time.monotonic() - self._began)
            patience.seconds = max(_LEAST, patience.fair)
            return
        try:
            self._ended.set()
            self._rings.join()
            for _step in range(_STEPS if self._rang else 0):
                pass  # what was raised and has not arrived does so here
        except _Over as late:
            kind = type(late)
            self._ended.set()
            self._rings.join()
        if kind is _Over and patience.seconds is not None:
            seconds, patience.seconds = (
                patience.seconds,
                max(patience.fair, patience.seconds / _LESS),
            )
            raise TookTooLong(f"It had not ended after {seconds:,.1f} s.") from None

    def _ring(self, seconds: float) -> None:
        while not self._ended.wait(seconds):
            self._rang = True
            _raise_over(self._thread)
            seconds = _AGAIN


def _raise_over(thread: int) -> None:
    """Has a thread raise it at its next step. Taken back, it would slow Python down for good."""
    error = ctypes.py_object(_Over)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
