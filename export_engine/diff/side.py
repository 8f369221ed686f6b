"""One of two programs, read for comparing: nodes without their names, sizes by common symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from export_engine.diff.calls import blank
from export_engine.record import OPS, Graph, Record
from export_engine.source import items_of


class Label(NamedTuple):
    """A node's own identity, without names and inputs."""

    op: str
    target: str
    arguments: str
    """With a mark for each input."""
    type: str


class Side:
    """A Record with its symbols renamed to those of the program it is compared with."""

    def __init__(self, record: Record, names: Mapping[str, str]) -> None:
        """Make one.

        Args:
            record: of a program.
            names: what to call its symbols.
        """
        self.record = record
        self._names = {old: new for old, new in names.items() if old != new}
        texts = sorted(self._names, key=len, reverse=True)
        pattern = "|".join(re.escape(name) for name in texts)
        self._templates: dict[int, str] = {}
        self._symbol = re.compile(rf"(?<![\w.])({pattern})(?!\w)") if texts else None

    def text(self, text: str) -> str:
        """A text about sizes, with the symbols under their common names."""
        if self._symbol is None:
            return text
        return self._symbol.sub(lambda match: self._names[match[0]], text)

    @cached_property
    def types(self) -> list[str]:
        """Per type of the Record, its text: dtype and sizes."""
        return [self.text(value_type.text) for value_type in self.record.types]

    @cached_property
    def _kinds(self) -> dict[int, str]:
        """Per placeholder of the main graph, whether a caller passes it or the program holds it."""
        entries = self.record.signature.inputs
        return {entry.node: "user" if entry.kind == "user_input" else "held" for entry in entries}

    def label(self, graph: Graph, node: int) -> Label:
        """A node's identity."""
        record = self.record
        target = record.targets[graph.target[node]].name if graph.target[node] >= 0 else ""
        if OPS[graph.op[node]] == "placeholder" and graph is record.graphs[0]:
            target = self._kinds.get(node, "")
        return Label(
            OPS[graph.op[node]],
            target,
            self._arguments(graph.args[node]),
            self.types[graph.type[node]] if graph.type[node] >= 0 else "",
        )

    def _arguments(self, number: int) -> str:
        """A template of arguments by its number among the strings."""
        cached = self._templates.get(number)
        if cached is None:
            cached = self._templates[number] = self.text(blank(self.record.strings[number]))
        return cached

    def scope(self, graph: Graph, node: int) -> str:
        """The path of the module that a node is in; empty outside every module."""
        number = graph.scope[node]
        return self.record.scopes[number].path if number >= 0 else ""

    def line(self, graph: Graph, node: int) -> tuple[str, int] | None:
        """The file and line that called a node's op; None where they are unknown."""
        record, stack = self.record, graph.stack[node]
        frames = items_of(record.stacks, stack) if stack >= 0 else ()
        if not len(frames):
            return None
        last = frames[-1]
        return record.files[record.frames.file[last]].path, record.frames.line[last]

    def name(self, graph: Graph, node: int) -> str:
        """A node's name."""
        return self.record.strings[graph.name[node]]

    def inputs(self, graph: Graph, node: int) -> list[int]:
        """The nodes that a node reads."""
        return list(items_of(graph.inputs, node))


def align_symbols(
    before: Record, after: Record, proven: Mapping[int, int]
) -> list[tuple[str, str]]:
    """Symbols that are the same: proven so, or of the same dim of the same input; then, in order.

    Args:
        before: a program.
        after: another.
        proven: per symbol of the first, the same one of the second; empty where nothing is proven.
    """
    pairs = {before.symbols[one].name: after.symbols[other].name for one, other in proven.items()}
    taken = set(pairs.values())
    for old, new in () if proven else _of_the_same_dims(before, after):
        if old not in pairs and new not in taken:
            pairs[old] = new
            taken.add(new)
    left = [symbol for symbol in before.symbols if symbol.name not in pairs]
    free = [symbol for symbol in after.symbols if symbol.name not in taken]
    for one, another in zip(left, free, strict=False):
        if one.kind == another.kind:
            pairs[one.name] = another.name
    return list(pairs.items())


def common_names(before: Record, after: Record, pairs: list[tuple[str, str]]) -> dict[str, str]:
    """What to call the symbols of the second program: no other symbol of the first has the name."""
    names = {new: old for old, new in pairs}
    texts = {symbol.name for symbol in before.symbols}
    strange = (symbol.name for symbol in after.symbols if symbol.name not in names)
    return names | {name: f"{name}\N{PRIME}" for name in strange if name in texts}


def _of_the_same_dims(before: Record, after: Record) -> Iterator[tuple[str, str]]:
    places = {(size.entry, size.dim): size.symbol for size in after.probe.inputs}
    offsets = [_first_user(record) for record in (before, after)]
    for size in before.probe.inputs:
        other = places.get((size.entry - offsets[0] + offsets[1], size.dim), -1)
        if size.symbol >= 0 and other >= 0:
            yield before.symbols[size.symbol].name, after.symbols[other].name


def _first_user(record: Record) -> int:
    """Where the user's inputs begin among all inputs."""
    kinds = [entry.kind for entry in record.signature.inputs]
    return kinds.index("user_input") if "user_input" in kinds else 0
