"""Interrupts inside the sandbox: none is lost, and none comes between a change and its undo.

Python raises KeyboardInterrupt in whatever the main thread runs just then. Raised in a finalizer,
in a callback from C or in a lookup that C code makes, it is dropped. So while the sandbox is
entered, the handler here notes each interrupt before it raises it: one that was noted and never
arrived is raised again at the next safe point, at the latest when the sandbox is left.

A handler of the user's own is called as it would be; what it raises is treated the same.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType
from typing import Any, TypeVar


class _Main:
    """The id of the main thread, the only one that signals reach."""

    asked = False
    """Whether an interrupt came and was not handled."""
    depth = 0
    """The nesting depth of sandbox contexts."""
    handler: Any = signal.default_int_handler
    """The user's handler of SIGINT, which ours calls."""
    hook: Any = sys.__unraisablehook__
    """The user's `sys.unraisablehook`, which ours calls."""


_NOT_BETWEEN: set[CodeType] = {
    ExitStack.enter_context.__code__,
    ExitStack.__exit__.__code__,
}
"""Functions that must complete: an interrupt in them is raised once they are done."""

_NOT_WITH: list[object] = []
"""Arguments of which a call must complete, whatever function it is of."""

_WHOLE_CONTEXTS: list[str] = []
"""Folders of code whose contexts must be entered and left as a whole."""
_OF_GENERATORS: type[Any] = type(contextmanager(lambda: iter(()))())
"""The class of contexts that `contextmanager` makes of a generator."""


_F = TypeVar("_F", bound=Callable[..., Any])


def whole(function: _F) -> _F:
    """Marks a function as one that no interrupt ends halfway."""
    _NOT_BETWEEN.add(function.__code__)
    return function


def whole_with(argument: object) -> None:
    """Marks the calls that are given an argument as ones that no interrupt ends halfway."""
    _NOT_WITH.append(argument)


def whole_contexts(folder: str) -> None:
    """Marks the contexts of the code in a folder: no interrupt ends their enter or exit halfway.

    Of torch's, one that does may end the process: C++ that puts a mode back finds another there.
    """
    _WHOLE_CONTEXTS.append(folder)


def raise_if_interrupted() -> None:
    """A safe point. Raises KeyboardInterrupt if one came and was lost."""
    if _Main.asked and _is_main():
        raise KeyboardInterrupt


def clear_interrupt() -> None:
    """Marks the interrupt as handled: it is not raised again."""
    if _is_main():
        _Main.asked = False


def pending() -> bool:
    """Whether an interrupt of this thread is noted."""
    return _Main.asked and _is_main()


@whole
def listen() -> None:
    """Begins to note interrupts; each call needs one of `stop_listening`.

    The handler is the first thing to change and the last to be put back: whatever else changes,
    changes while it holds interrupts back.
    """
    if not _is_main():
        return
    if not _Main.depth:
        _Main.asked = False
        own = signal.getsignal(signal.SIGINT)
        if callable(own) and own is not _handle_sigint:
            _Main.handler = own
            signal.signal(signal.SIGINT, _handle_sigint)
        if sys.unraisablehook is not _handle_unraisable:
            _Main.hook = sys.unraisablehook
            sys.unraisablehook = _handle_unraisable
    _Main.depth += 1


@whole
def stop_listening() -> bool:
    """Ends it; returns whether an interrupt was noted and not handled."""
    if not _is_main():
        return False
    _Main.depth -= 1
    if not _Main.depth:
        if sys.unraisablehook is _handle_unraisable:
            sys.unraisablehook = _Main.hook
        if signal.getsignal(signal.SIGINT) is _handle_sigint:
            signal.signal(signal.SIGINT, _Main.handler)
    return _Main.asked


def _handle_sigint(number: int, frame: FrameType | None) -> None:
    """The handler of SIGINT."""
    try:
        _Main.handler(number, frame)
    except KeyboardInterrupt:
        _Main.asked = True
        if not _is_between(frame):
            raise


def _is_between(frame: FrameType | None) -> bool:
    """Whether a function is running that must run to its end."""
    while frame is not None:
        if frame.f_code in _NOT_BETWEEN or _is_of_context(frame) or _is_given(frame):
            return True
        frame = frame.f_back
    return False


def _is_of_context(frame: FrameType) -> bool:
    """Whether a frame enters or leaves a context that must be entered and left as a whole."""
    code = frame.f_code
    if code.co_name not in ("__enter__", "__exit__"):
        return False
    manager: Any = frame.f_locals.get("self")
    if type(manager) is _OF_GENERATORS:
        code = manager.gen.gi_code
    return code.co_filename.startswith(tuple(_WHOLE_CONTEXTS))


def _is_given(frame: FrameType) -> bool:
    """Whether the call of a frame was given one of the arguments with which it must complete."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    values = [frame.f_locals.get(name) for name in (*names, "args")]
    flat = [item for value in values for item in (value if type(value) is tuple else (value,))]
    return any(value is argument for value in flat for argument in _NOT_WITH)


def _handle_unraisable(unraisable: Any) -> None:
    """The hook for what Python drops."""
    if unraisable.exc_type is KeyboardInterrupt and _is_main():
        _Main.asked = True
    else:
        _Main.hook(unraisable)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
