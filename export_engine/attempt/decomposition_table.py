"""Which ops to decompose: a table in a short language, and as torch takes it.

`core` is torch's default table, to Core ATen. `none` leaves every op. `core -conv2d -linear` keeps
some ops whole; `only t transpose` decomposes nothing else. A table of the user's own, functions by
op, is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch

from export_engine.torch_internals import OpOverload


class TableError(ValueError):
    """An invalid table. The message can be shown unchanged."""


@dataclass(frozen=True)
class DecompositionTable:
    """A decomposition table. `str(table)` is the short language; `parse` is its inverse."""

    base: Literal["core", "none", "only", "given"]
    ops: tuple[str, ...] = ()
    """Of `core`, the ops that stay whole; of `only`, those that do not. `linear` is every overload
    of aten.linear."""
    functions: Mapping[Any, Callable[..., Any]] | None = None
    """Of `given`, the user's own table."""

    @staticmethod
    def of(table: object) -> DecompositionTable:
        """The table of a text, or of a mapping as `run_decompositions` takes it.

        Raises:
            TableError: the text is invalid, or the mapping is not from ops to functions.
        """
        if isinstance(table, str):
            return DecompositionTable.parse(table)
        if not isinstance(table, Mapping):
            raise TableError(
                f"A {type(table).__name__} is not a decomposition table. Pass a string such as "
                "'core -linear', or a dict from ops to functions."
            )
        for op, function in table.items():
            if not isinstance(op, OpOverload) or not callable(function):
                raise TableError(
                    f"A decomposition table maps ops to functions; this one has {op!r}: "
                    f"{function!r}. Name an overload, such as torch.ops.aten.linear.default."
                )
        names = tuple(str(op) for op in table)
        return DecompositionTable("given", names, dict(table.items()))

    @staticmethod
    def parse(text: str) -> DecompositionTable:
        """The table of a text.

        Raises:
            TableError: a word is not in the language.
        """
        first, *rest = text.replace(",", " ").split() or ["core"]
        if first == "none" and not rest:
            return DecompositionTable("none")
        if first == "only" and rest and not any(word.startswith("-") for word in rest):
            return DecompositionTable("only", tuple(dict.fromkeys(rest)))
        if first == "core" and all(word.startswith("-") and len(word) > 1 for word in rest):
            return DecompositionTable("core", tuple(dict.fromkeys(word[1:] for word in rest)))
        raise TableError(
            f"Unknown decomposition table {text!r}. Use core, none, core -conv2d -linear (which "
            "keeps these two), or only t transpose."
        )

    def __str__(self) -> str:
        if self.base == "given":
            return f"a table of {len(self.ops)} {'op' if len(self.ops) == 1 else 'ops'}"
        mark = "-" if self.base == "core" else ""
        return " ".join([self.base, *(mark + op for op in self.ops)])

    def to_torch(self) -> dict[Any, Callable[..., Any]]:
        """The table as `run_decompositions` takes it.

        Raises:
            TableError: it names an op that torch has no decomposition of.
        """
        if self.functions is not None:
            return dict(self.functions)
        if self.base == "none":
            return {}
        table: Any = torch.export.default_decompositions()
        entries: dict[Any, Callable[..., Any]] = dict(table.items())
        named = {op: [value for value in entries if _is(value, op)] for op in self.ops}
        missing = [op for op, group in named.items() if not group]
        if missing:
            raise TableError(
                f"torch has no decomposition for {', '.join(missing)}. Name ops as in the graph: "
                "linear, or aten.linear.default."
            )
        chosen = {value for group in named.values() for value in group}
        if self.base == "only":
            return {op: function for op, function in entries.items() if op in chosen}
        return {op: function for op, function in entries.items() if op not in chosen}


def decomposable() -> list[str]:
    """The ops that torch's default table decomposes, by name and in alphabetical order."""
    table: Any = torch.export.default_decompositions()
    return sorted(str(op) for op in table if not str(op).startswith("_test."))


def _is(op: Any, name: str) -> bool:
    """Whether a name matches an op: `linear`, `aten.linear`, `aten.linear.default`."""
    full = str(op)
    packet = full.rpartition(".")[0]
    return name in (full, packet, packet.rpartition(".")[2])
