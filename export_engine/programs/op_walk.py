"""The main graph of a Record, op by op: what each reads and who reads it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from export_engine.record import OPS, Record, ValueType, call_arguments
from export_engine.source import items_of

VIEWS = (
    "aten.alias.",
    "aten.clone.",
    "aten.contiguous.",
    "aten.detach.",
    "aten.permute.",
    "aten.reshape.",
    "aten.transpose.",
    "aten.unsqueeze.",
    "aten.squeeze.",
    "aten.view.",
)
"""Ops that give the values that they take, in other dims or memory."""
_OUTPUT = OPS.index("output")
_PLACEHOLDER = OPS.index("placeholder")


class Walk:
    """A main graph to walk along."""

    def __init__(self, record: Record) -> None:
        """Make one.

        Args:
            record: one of a program; without graphs there is nothing to walk.
        """
        self._record = record
        self._graph = record.graphs[0] if record.graphs else None

    @property
    def nodes(self) -> range:
        """All nodes, in order."""
        return range(len(self._graph.op) if self._graph else 0)

    def name(self, node: int) -> str:
        """The target of a node, `aten.cat.default`; empty if it calls nothing."""
        if self._graph is None or node < 0 or self._graph.target[node] < 0:
            return ""
        return self._record.targets[self._graph.target[node]].name

    def stack(self, node: int) -> int:
        """The stack of a node; -1 for none."""
        return self._graph.stack[node] if self._graph is not None and node >= 0 else -1

    def type(self, node: int) -> ValueType:
        """The type of a node's output."""
        assert self._graph is not None
        return self._record.types[self._graph.type[node]]

    def inputs(self, node: int) -> list[int]:
        """The nodes that a node reads."""
        return list(items_of(self._graph.inputs, node)) if self._graph is not None else []

    def is_placeholder(self, node: int) -> bool:
        """Whether a node is an input of the program."""
        return self._graph is not None and self._graph.op[node] == _PLACEHOLDER

    def arguments(self, node: int) -> tuple[list[str], dict[str, str]]:
        """The texts of a call's arguments, by position and by name; `{0}` is its first input."""
        assert self._graph is not None
        positions, names = call_arguments(self._record.strings[self._graph.args[node]])
        return list(positions), dict(names)

    def writes(self, node: int) -> bool:
        """Whether a node is a call that writes to an argument."""
        if self._graph is None or self._graph.target[node] < 0:
            return False
        return bool(self._record.targets[self._graph.target[node]].mutates)

    def memory(self, node: int) -> int:
        """The placeholder whose memory an op writes to or shows, through views; -1 for none."""
        while not self.is_placeholder(node):
            inputs = self.inputs(node)
            shows = self._graph is not None and self._graph.target[node] >= 0
            target = self._record.targets[self._graph.target[node]] if shows else None  # type: ignore[union-attr]
            if not inputs or target is None:
                return -1
            if not (target.mutates or target.aliases or target.name == "operator.getitem"):
                return -1
            node = inputs[0]
        return node

    @cached_property
    def _readers(self) -> dict[int, list[int]]:
        groups: dict[int, list[int]] = {}
        for node in self.nodes:
            assert self._graph is not None
            if self._graph.op[node] != _OUTPUT:
                for number in dict.fromkeys(self.inputs(node)):
                    groups.setdefault(number, []).append(node)
        return groups

    def readers(self, node: int) -> list[int]:
        """The nodes that read a node, the output aside."""
        return self._readers.get(node, [])

    def before(self, nodes: Iterable[int]) -> Iterator[int]:
        """Nodes and all that they depend on, the nearest first."""
        return _iter_reachable(nodes, self.inputs)

    def after(self, nodes: Iterable[int]) -> Iterator[int]:
        """Nodes and all that depends on them, the nearest first."""
        return _iter_reachable(nodes, self.readers)


def _iter_reachable(nodes: Iterable[int], along: Callable[[int], Iterable[int]]) -> Iterator[int]:
    """Nodes and all that a way leads to from them, the nearest first."""
    waiting, seen = deque(nodes), set[int]()
    while waiting:
        node = waiting.popleft()
        if node not in seen:
            seen.add(node)
            yield node
            waiting += along(node)
