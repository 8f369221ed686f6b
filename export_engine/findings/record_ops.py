"""The ops of a Record, for findings that need no more than that: no torch, no program, no source.

So findings on an export are the same as on a file that was only read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from export_engine.record import (
    OPS,
    Graph,
    Record,
    Target,
    ValueType,
    call_arguments,
    schema_arguments,
)
from export_engine.source import Location, Stack, items_of

_HOLE = re.compile(r"\{(\d+)\}")
_CALLS = frozenset(OPS.index(op) for op in ("call_function", "call_module", "call_method"))
_GETITEM = "operator.getitem"


class Op(NamedTuple):
    """A call in the main graph or a nested one."""

    record: Record
    graph: int
    node: int
    position: int
    """In the main graph; of an op in a nested graph, that of the op that runs it."""

    @property
    def target(self) -> Target:
        """What is called."""
        return self.record.targets[self._graph.target[self.node]]

    @property
    def name(self) -> str:
        """`aten.dropout.default`."""
        return self.target.name

    @property
    def stack(self) -> Stack:
        """The user's lines."""
        return stack_of(self.record, self._graph.stack[self.node])

    @property
    def type(self) -> ValueType:
        """Its result."""
        return self.record.types[self._graph.type[self.node]]

    def argument(self, name: str) -> str | None:
        """The text of an argument by the name that the schema gives it; None for one it lacks."""
        text = self.record.strings[self._graph.args[self.node]]
        by_position, by_name = call_arguments(text)
        if name in by_name:
            return by_name[name]
        for number, schema_argument in enumerate(schema_arguments(self.target.schema)):
            if schema_argument.name == name:
                return by_position[number] if number < len(by_position) else schema_argument.default
        return None

    def reads(self, name: str) -> list[int]:
        """The nodes of its graph in an argument."""
        return self.nodes_in(self.argument(name) or "")

    def first(self) -> list[int]:
        """The nodes of its graph in the first argument."""
        by_position, _ = call_arguments(self.record.strings[self._graph.args[self.node]])
        return self.nodes_in(by_position[0]) if by_position else []

    def nodes_in(self, text: str) -> list[int]:
        """The nodes that holes in a text of its arguments stand for."""
        inputs = items_of(self._graph.inputs, self.node)
        numbers = [int(hole[1]) for hole in _HOLE.finditer(text)]
        return [inputs[number] for number in numbers if number < len(inputs)]

    def type_of(self, node: int) -> ValueType:
        """The type of a node of its graph."""
        return self.record.types[self._graph.type[node]]

    @property
    def _graph(self) -> Graph:
        return self.record.graphs[self.graph]


def stack_of(record: Record, number: int) -> Stack:
    """A stack of a Record; the empty one for -1."""
    if number < 0:
        return ()
    frames = record.frames
    return tuple(
        Location(
            record.files[frames.file[frame]].path,
            frames.line[frame],
            record.strings[frames.function[frame]],
        )
        for frame in items_of(record.stacks, number)
    )


def calls(record: Record, wanted: Callable[[Target], bool]) -> list[Op]:
    """The calls of some targets, in order, those of nested graphs after the op that runs them."""
    targets = {number for number, target in enumerate(record.targets) if wanted(target)}
    if not targets or not record.graphs:
        return []
    return list(_walk(record, 0, -1, targets, set()))


def _walk(
    record: Record, number: int, position: int, targets: set[int], seen: set[int]
) -> Iterator[Op]:
    seen.add(number)
    graph = record.graphs[number]
    nested: dict[int, list[int]] = {}
    for nested_graph in graph.nested:
        nested.setdefault(nested_graph.node, []).append(nested_graph.graph)
    for node, op in enumerate(graph.op):
        at = node if position < 0 else position
        if op in _CALLS and graph.target[node] in targets:
            yield Op(record, number, node, at)
        for inner in nested.get(node, ()):
            if inner not in seen:
                yield from _walk(record, inner, at, targets, seen)


def place_of(record: Record, nodes: Iterable[int]) -> Stack:
    """The user's lines of the first of some ops of the main graph that has any."""
    stacks = (stack_of(record, record.graphs[0].stack[node]) for node in nodes)
    return next((stack for stack in stacks if stack), ())


def readers(record: Record, nodes: Iterable[int]) -> dict[int, list[int]]:
    """Per node of the main graph, the nodes there that read it."""
    groups: dict[int, list[int]] = {node: [] for node in nodes}
    graph = record.graphs[0]
    for node in range(len(graph.op)) if groups else ():
        for read in dict.fromkeys(items_of(graph.inputs, node)):
            if read in groups:
                groups[read].append(node)
    return groups


class Memory:
    """Whose memory the values of a Record's nodes are in, as far as schemas tell."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._given = {
            nested_graph.graph: (number, nested_graph.node)
            for number, graph in enumerate(record.graphs)
            for nested_graph in graph.nested
        }
        """Per nested graph, the graph and the node that run it."""

    def placeholder(self, graph: int, node: int) -> int:
        """The input of the main graph whose memory a node's value is in; -1 for none."""
        steps = sum(len(graph.op) for graph in self._record.graphs)
        while steps > 0:
            steps -= 1
            columns = self._record.graphs[graph]
            if columns.op[node] == OPS.index("placeholder"):
                if graph == 0:
                    return node
                outer = self._argument(graph, node)
                if outer is None:
                    return -1
                graph, node = outer
                continue
            source = self._find_viewed(graph, node)
            if source < 0:
                return -1
            node = source
        return -1

    def _find_viewed(self, graph: int, node: int) -> int:
        """The node whose memory a call's result shows; -1 for memory of its own."""
        columns = self._record.graphs[graph]
        if columns.op[node] not in _CALLS or columns.target[node] < 0:
            return -1
        op = Op(self._record, graph, node, -1)
        if op.name == _GETITEM:
            return next(iter(op.first()), -1)
        for schema_argument in schema_arguments(op.target.schema):
            if schema_argument.returned:
                return next(iter(op.reads(schema_argument.name)), -1)
        return -1

    def _argument(self, graph: int, node: int) -> tuple[int, int] | None:
        """The argument for one of a graph's inputs, from the op that runs it: the last ones."""
        outer, runs = self._given.get(graph, (-1, -1))
        if outer < 0:
            return None
        columns = self._record.graphs[graph]
        inner = [at for at, op in enumerate(columns.op) if op == OPS.index("placeholder")]
        numbers = items_of(self._record.graphs[outer].inputs, runs)
        at = len(numbers) - len(inner) + inner.index(node)
        return (outer, numbers[at]) if 0 <= at < len(numbers) else None
