"""Watches the calls of a model while a block runs, with hooks of torch's that are removed again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from export_engine.observe.seen_calls import MOST_BYTES, SeenCalls


@contextmanager
def watched(target: Callable[..., Any], most_bytes: int = MOST_BYTES) -> Iterator[SeenCalls]:
    """Keeps what a module's calls pass, until the block ends, however it ends.

    A call that raises is not kept, nor one while torch traces or compiles the module. Another
    callable has no hooks: give its calls to `seen_calls.before` yourself.

    Args:
        target: what is called.
        most_bytes: the memory that copies of inputs may take; sizes are kept of every call.
    """
    seen = SeenCalls(target, most_bytes)
    handles = _hooked(target, seen) if isinstance(target, torch.nn.Module) else []
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def _hooked(module: torch.nn.Module, seen: SeenCalls) -> list[Any]:
    begun = _Begun()

    def before(_: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not _is_tracing():
            begun.calls.append((args, seen.before(args, kwargs)))

    def after(_: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], __: Any) -> None:
        if _is_tracing():
            return
        same = [n for n, (given, _) in enumerate(begun.calls) if given is args]
        number = same[-1] if same else len(begun.calls) - 1
        if number >= 0:
            begun.calls[number][1]()
            del begun.calls[number:]  # those after it raised

    return [
        module.register_forward_pre_hook(before, prepend=True, with_kwargs=True),
        module.register_forward_hook(after, with_kwargs=True),
    ]


class _Begun(threading.local):
    """The calls of a thread that have begun and not returned, the innermost last."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Callable[[], None]]] = []


def _is_tracing() -> bool:
    return torch.compiler.is_compiling() or torch.jit.is_tracing()
