"""The call of a part of a model that fails as the call of all of it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import torch

from export_engine.attempt import Failed, Request
from export_engine.capture import capture, model_kept
from export_engine.defects import log_internal_error
from export_engine.diagnose import diagnose
from export_engine.process import sandbox
from export_engine.reproduce.definitions import functions_of
from export_engine.source import Stack
from export_engine.verify import run

_MOST = 8
"""Parts that are tried, the innermost first."""
_Call = tuple[tuple[Any, ...], dict[str, Any]]


class _Enough(Exception):
    """Every part was called; the rest of the model need not run."""


def smaller_calls(failed: Failed, stack: Stack) -> Iterator[Request]:
    """Calls of submodules that end in the same kind of error, each smaller than the one before.

    The model runs once, in eager, on copies of its inputs, and is as before.

    Args:
        failed: the failure, explained.
        stack: the user's frames at the failing line, the outermost first.
    """
    request = failed.request
    if request is None or not isinstance(request.target, torch.nn.Module):
        return
    kind = diagnose(failed).kind
    parts = [
        module
        for module in request.target.modules()
        if module is not request.target and _depth(module, stack) >= 0
    ]
    parts = sorted(parts, key=lambda each: -_depth(each, stack))[:_MOST]
    for part, (args, kwargs) in _calls_of(request, parts):
        smaller = request.with_changes(target=part, args=args, kwargs=kwargs, shapes=None)
        try:
            attempt = capture(smaller)
        except (TypeError, ValueError) as error:
            log_internal_error(error, "exporting a part of the model")
            continue
        if isinstance(attempt, Failed) and diagnose(attempt).kind is kind:
            yield smaller


def _depth(module: torch.nn.Module, stack: Stack) -> int:
    """The innermost frame of a stack that is in a module's class; -1 if none is."""
    spans = []
    for function in functions_of(type(module)):
        lines = [line for _, _, line in function.__code__.co_lines() if line is not None]
        spans.append((function.__code__.co_filename, min(lines, default=0), max(lines, default=0)))
    depths = [
        at
        for at, place in enumerate(stack)
        if any(file == place.file and low <= place.line <= high for file, low, high in spans)
    ]
    return max(depths, default=-1)


def _calls_of(
    request: Request, parts: list[torch.nn.Module]
) -> list[tuple[torch.nn.Module, _Call]]:
    """The first call of each part in one eager run, in the order of the parts."""
    if not parts:
        return []
    seen: dict[int, _Call] = {}

    def entering(part: torch.nn.Module) -> Callable[..., None]:
        def note_call(_: Any, args: Any, kwargs: Any) -> None:
            seen.setdefault(id(part), (tuple(args), dict(kwargs)))
            if len(seen) == len(parts):
                raise _Enough

        return note_call

    with sandbox(), model_kept(request.target), ExitStack() as hooks:
        for part in parts:
            handle = part.register_forward_pre_hook(entering(part), with_kwargs=True)
            hooks.callback(handle.remove)
        try:
            run(request.target, request, seed=0)
        except Exception as error:  # noqa: BLE001 - the model may raise anything, and so do we
            log_internal_error(error, "running the model in eager")
    return [(part, seen[id(part)]) for part in parts if id(part) in seen]
