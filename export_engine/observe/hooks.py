"""Watches the calls of a module, with hooks of torch's that are removed again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

from export_engine.observe.seen_calls import MOST_BYTES, SeenCalls
from export_engine.process import sandbox, whole


class Watch:
    """Keeps what a module's calls pass, from `begin` to `end`.

    A call that raises is not kept, nor one while torch traces or compiles the module. Another
    callable has no hooks: give its calls to `seen.before` yourself.
    """

    def __init__(self, target: Callable[..., Any], most_bytes: int = MOST_BYTES) -> None:
        """Make one.

        Args:
            target: what is called.
            most_bytes: the memory that copies of inputs may take; sizes are kept of every call.
        """
        self.seen = SeenCalls(target, most_bytes)
        self._handles: list[Any] = []

    def begin(self) -> None:
        """Adds the hooks."""
        with sandbox():
            self._begin()

    def end(self) -> None:
        """Removes them; the module is as before. An interrupt comes before or after."""
        with sandbox():
            self._end()

    @whole
    def _begin(self) -> None:
        if isinstance(self.seen.target, torch.nn.Module):
            self._handles = _add_hooks(self.seen.target, self.seen)

    @whole
    def _end(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []


def _add_hooks(module: torch.nn.Module, seen: SeenCalls) -> list[Any]:
    begun = _Begun()

    def before(_: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not _is_tracing():
            begun.calls.append((args, seen.before(args, kwargs)))

    def after(_: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], __: Any) -> None:
        if _is_tracing():
            return
        same = [n for n, (value, _) in enumerate(begun.calls) if value is args]
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
    return torch.compiler.is_compiling() or bool(
        torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    )
