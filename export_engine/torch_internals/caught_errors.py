"""Errors of tracing that the model's own code caught, as in `except RuntimeError`.

Tensors have no values while torch traces, so torch refuses what eager does. Code that catches the
refusal goes on, the export succeeds, and the program has the `except` branch alone. torch catches
many such errors itself, which change nothing: what counts is the frame that one ended in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from types import TracebackType
from typing import Any

import torch

from export_engine.process import undone
from export_engine.source import TORCH, Location, Position, Stack, is_shown, user_stack
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.capability import hook
from export_engine.torch_internals.errors import operator_without_fake
from export_engine.torch_internals.generated_code_lines import lines_behind
from export_engine.trace import CaughtError, Recording

_MOST_HELD = 200
"""Errors hold the frames they passed; those that torch caught are let go beyond this number."""
_MEMORY = frozenset({"numpy", "data_ptr", "tolist", "__array__", "__dlpack__"})
"""Methods that need a tensor's memory, which a fake tensor lacks."""

_Held = list[tuple[BaseException, Stack]]


@undone
def caught_errors(into: Recording) -> Iterator[None]:
    """Records the errors of tracing that ended in code of the user's, or of a package."""
    held: _Held = []

    def keep(error: BaseException) -> None:
        stack = user_stack(sys._getframe(2), lines_behind)
        if not stack:
            return
        if len(held) >= _MOST_HELD:
            held[:] = [pair for pair in held if _catcher(pair[0]) is not None][:_MOST_HELD]
        held.append((error, stack))

    def make_init(original: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - stands for it
            original(self, *args, **kwargs)
            keep(self)

        return __init__

    def make_torch_function(original: Any) -> Any:
        def __torch_function__(  # noqa: N807 - it stands for that
            self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            # In the branches of torch.cond, Dynamo traces this function as it does the model.
            if torch.compiler.is_dynamo_compiling():
                return original(self, func, types, args, kwargs)
            try:
                return original(self, func, types, args, kwargs)
            except RuntimeError as error:
                needs_memory = getattr(func, "__name__", "") in _MEMORY and not _needs_grad(args)
                if needs_memory or operator_without_fake(error) is not None:
                    keep(error)
                raise

        return __torch_function__

    with ExitStack() as hooks:
        for capability in torch_has.ERRORS_OF_TRACING:
            hooks.enter_context(hook(capability, make_init))
        hooks.enter_context(hook(torch_has.NON_STRICT_FUNCTIONS, make_torch_function))
        try:
            yield
        finally:
            errors = (_caught(error, stack) for error, stack in held)
            into.caught.extend(
                {error.stack: error for error in errors if error is not None}.values()
            )
            held.clear()


def _needs_grad(args: Any) -> bool:
    """Whether eager also refuses a tensor's memory."""
    return bool(args) and bool(getattr(args[0], "requires_grad", False))


def _catcher(error: BaseException) -> TracebackType | None:
    """The outermost frame that an error passed, which caught it, if it is not torch's."""
    traceback = error.__traceback__
    if traceback is None:
        return None
    path = traceback.tb_frame.f_code.co_filename
    return traceback if is_shown(path) and not path.startswith(TORCH) else None


def _caught(error: BaseException, stack: Stack) -> CaughtError | None:
    catcher = _catcher(error)
    if catcher is None:
        return None
    shown = [
        traceback
        for traceback in _tracebacks(catcher)
        if is_shown(traceback.tb_frame.f_code.co_filename)
    ]
    own = [trace for trace in shown if not trace.tb_frame.f_code.co_filename.startswith(TORCH)]
    code = catcher.tb_frame.f_code
    return CaughtError(
        classes=tuple(item.__name__ for item in type(error).__mro__),
        stack=stack[: _end(stack, own[-1])],
        asked=_position(own[-1]),
        caught=Location(code.co_filename, catcher.tb_lineno, code.co_name),
    )


def _tracebacks(first: TracebackType) -> Iterator[TracebackType]:
    trace: TracebackType | None = first
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _end(stack: Stack, innermost: TracebackType) -> int:
    """How much of a stack leads to a frame."""
    frame = innermost.tb_frame.f_code
    ends = [n for n, location in enumerate(stack, 1) if location.file == frame.co_filename]
    return ends[-1] if ends else len(stack)


def _position(traceback: TracebackType) -> Position:
    positions = traceback.tb_frame.f_code.co_positions()
    line, end, column, last = next(
        islice(positions, traceback.tb_lasti // 2, None), (None, None, None, None)
    )
    if line is None or column is None:
        return Position(traceback.tb_lineno)
    return Position(line, column, end, last)
