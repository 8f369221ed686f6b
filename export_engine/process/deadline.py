"""How long a model may run on inputs that nobody gave it: a loop on data may never end there."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

from export_engine.process.forks import ends_python
from export_engine.process.interrupts import whole

ELSEWHERE = 60.0
"""Seconds for a call at changed inputs, where no other call of the model is known."""
_LEAST = 5.0
"""Seconds that any call may take."""
_TIMES = 50
"""How many times as long as the first call the others may take, at other sizes."""
_AGAIN = 5.0
"""Seconds after which a call is interrupted again: Python drops what is raised in a finalizer."""
_LESS = 4
"""A call after one that did not end has this part of its time."""
_STEPS = 100
"""Python looks for what was raised in a thread at each step of a loop."""


class TookTooLong(Exception):
    """A call had not ended in its time."""


class EndsPython(Exception):
    """A call would end this process: it ended a fork of it."""


class _Over(BaseException):
    """Raised in a call; not an Exception, so that no model takes it for an error of its own."""


class Deadline:
    """A limit on calls of one model: many times what the first of them took, or `ELSEWHERE`."""

    def __init__(self, seconds: float | None = None, *, native: bool = False) -> None:
        """Begins.

        Args:
            seconds: the limit, where the first call is not the user's own; it stays the same.
            native: whether native code that may end Python is called: then every call but the first
                is made in a fork before.
        """
        self._native = native
        self.fair = seconds or 0.0
        self.seconds = seconds
        """The limit of the next call; None for the first."""

    def call(self, called: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a call with a deadline, in any thread.

        Raises:
            TookTooLong: it had not ended in time. One op that does not return is not stopped.
            EndsPython: it ends the process that it is made in.
        """
        began, seconds = time.monotonic(), self.seconds
        if seconds is None:
            try:
                return called(*args, **kwargs)
            finally:
                self.fair = _TIMES * (time.monotonic() - began)
                self.seconds = max(_LEAST, self.fair)
        if self._native and ends_python(lambda: called(*args, **kwargs)):
            raise EndsPython("native code in the call crashes the process")
        alarm = Alarm(seconds)
        try:
            with alarm:
                return called(*args, **kwargs)
        except _Over:
            alarm.stop()  # it may have come just as the alarm was to be stopped
            self.seconds = max(self.fair, seconds / _LESS)
            raise TookTooLong(f"It did not finish within {seconds:,.1f} s.") from None


class Alarm:
    """Raises `_Over` in its thread after some seconds. No interrupt comes into its start or end."""

    def __init__(self, seconds: float) -> None:
        self._thread = threading.get_ident()
        self._ended = threading.Event()
        self._rang = False
        self._rings = threading.Thread(target=self._ring, args=(seconds,), daemon=True)

    @whole
    def __enter__(self) -> None:
        self._rings.start()

    @whole
    def __exit__(self, *_: object) -> None:
        self.stop()

    @whole
    def stop(self) -> None:
        """Ends it; what was raised and has not arrived does so here."""
        self._ended.set()
        self._rings.join()
        for _step in range(_STEPS if self._rang else 0):
            pass

    def _ring(self, seconds: float) -> None:
        while not self._ended.wait(seconds):
            self._rang = True
            _raise_over(self._thread)
            seconds = _AGAIN


def _raise_over(thread: int) -> None:
    """Has a thread raise it at its next step. Taken back, it would slow Python down for good."""
    error = ctypes.py_object(_Over)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
