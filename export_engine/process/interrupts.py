"""Interrupts inside the sandbox: none is lost, and none comes between a change and what undoes it.

Python raises KeyboardInterrupt in whatever the main thread runs just then. Raised in a finalizer,
in a callback from C or in a lookup that C code makes, it is dropped. So while the sandbox is
entered, the handler here notes each interrupt before it raises it: one that was noted and never
arrived is raised again at the next safe point, at the latest when the sandbox is left.

A handler of the user's own stays; then Python's `sys.unraisablehook` says what was dropped.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import CodeType, FrameType
from typing import Any, TypeVar


class _Main:
    """Of the main thread; signals reach no other."""

    asked = False
    """Whether an interrupt came that nobody has answered."""
    depth = 0
    """How many contexts of the sandbox are entered, one inside the other."""
    handler: Any = None
    """What was replaced, while something is."""
    hook: Any = None


_NOT_BETWEEN: set[CodeType] = {
    ExitStack.enter_context.__code__,
    ExitStack.__exit__.__code__,
}
"""Functions that must run to their end: an interrupt that comes in them is noted, and raised once
they are done."""


_F = TypeVar("_F", bound=Callable[..., Any])


def whole(function: _F) -> _F:
    """Marks a function as one that no interrupt ends halfway."""
    _NOT_BETWEEN.add(function.__code__)
    return function


def raise_if_interrupted() -> None:
    """A safe point. Raises KeyboardInterrupt if one came and was lost."""
    if _Main.asked and _is_main():
        raise KeyboardInterrupt


def answered() -> None:
    """Says that the interrupt that came has had its effect: it is not raised again."""
    if _is_main():
        _Main.asked = False


def pending() -> bool:
    """Whether an interrupt of this thread is noted."""
    return _Main.asked and _is_main()


@whole
def listen() -> None:
    """Begins to note interrupts; each call needs one of `stop_listening`."""
    if not _is_main():
        return
    if not _Main.depth:
        _Main.asked = False
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupted)
            _Main.handler = signal.default_int_handler
        _Main.hook, sys.unraisablehook = sys.unraisablehook, _dropped
    _Main.depth += 1


@whole
def stop_listening() -> bool:
    """Ends it; tells whether an interrupt was noted that nobody has answered."""
    if not _is_main():
        return False
    _Main.depth -= 1
    asked = _Main.asked
    if not _Main.depth:
        _Main.asked = False
        if sys.unraisablehook is _dropped:
            sys.unraisablehook = _Main.hook
        if _Main.handler is not None:
            ours = signal.getsignal(signal.SIGINT) is _interrupted
            handler, _Main.handler = _Main.handler, None
            if ours:
                signal.signal(signal.SIGINT, handler)
        asked = asked or _Main.asked
    return asked


def _interrupted(_: int, frame: FrameType | None) -> None:
    """The handler of SIGINT."""
    _Main.asked = True
    while frame is not None:
        if frame.f_code in _NOT_BETWEEN:
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _dropped(unraisable: Any) -> None:
    """The hook for what Python drops."""
    if unraisable.exc_type is KeyboardInterrupt and _is_main():
        _Main.asked = True
    else:
        _Main.hook(unraisable)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
