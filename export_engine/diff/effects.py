"""Whether ops that write or draw random numbers come in the same order in two graphs.

An op in place may not trade places with an op on the same memory. Schemas of ops define which
values share memory; without one, every input counts as written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from export_engine.diff.calls import Argument, read_call
from export_engine.record import Graph, Record, Target
from export_engine.source import items_of

_SEEDED = "nondeterministic_seeded"
_NORMALIZES = ("batch_norm", "instance_norm")
_RUNNING = ("running_mean", "running_var")
"""The writes of these ops in training, which not every schema declares."""
_TRAINS = ("training", "train", "use_input_stats")
_IN_PLACE = re.compile(r"(?:set|del)item|i(?:add|sub|mul|truediv|floordiv)|[a-z]\w*[a-z0-9]_")
"""Functions and methods of Python that write to their first argument, as before export."""
_FALSE = ("False", "0.0", "0")


class Effects:
    """Writes, random draws and shared memory of one graph's nodes."""

    def __init__(
        self, record: Record, graph: int, schemas: Mapping[str, Target], unwritten: bool = False
    ) -> None:
        """Read them.

        Args:
            record: of the program.
            graph: of it, by number.
            schemas: targets by name, of whichever program knows their schemas.
            unwritten: leave out which values share memory.
        """
        self._record = record
        self._graph: Graph = record.graphs[graph]
        self._schemas = schemas
        self._inner: dict[int, list[Effects]] = {}
        for nested_graph in self._graph.nested:
            inner = Effects(record, nested_graph.graph, schemas, unwritten=True)
            self._inner.setdefault(nested_graph.node, []).append(inner)
        count = len(self._graph.name)
        self.inputs = [list(items_of(self._graph.inputs, node)) for node in range(count)]
        self.writes = [self._find_writes(node) for node in range(count)]
        self.draws = [self._is_random(node) for node in range(count)]
        self._memory = list(range(count))
        if not unwritten and any(self.writes):
            self._share(inside=graph > 0)

    @property
    def has_writes(self) -> bool:
        """Whether anything is written to."""
        return any(self.writes)

    def epochs(self) -> list[dict[int, int]]:
        """Per node, how often the memory of each of its inputs was written before it."""
        written: dict[int, int] = {}
        result: list[dict[int, int]] = []
        for node, inputs in enumerate(self.inputs):
            result.append({source: written.get(self._root(source), 0) for source in inputs})
            for root in {self._root(number) for number in self.writes[node]}:
                written[root] = written.get(root, 0) + 1
        return result

    def _target(self, node: int) -> Target | None:
        number = self._graph.target[node]
        if number < 0:
            return None
        target = self._record.targets[number]
        return self._schemas.get(target.name, target)

    def _call(self, node: int) -> dict[str, Argument]:
        target = self._target(node)
        text = self._record.strings[self._graph.args[node]]
        return read_call(text, target.schema if target else "")

    def _inputs_by_name(self, node: int, names: Sequence[str]) -> list[int]:
        """The inputs in the arguments of these names."""
        call = self._call(node)
        positions = [at for name in names if name in call for at in call[name].inputs]
        return [self.inputs[node][at] for at in positions if at < len(self.inputs[node])]

    def _find_writes(self, node: int) -> list[int]:
        target = self._target(node)
        if target is None:
            return []
        if target.kind == "python":
            return self.inputs[node][:1] if _IN_PLACE.fullmatch(target.label) else []
        if node in self._inner:
            inner = any(effects.has_writes for effects in self._inner[node])
            return self.inputs[node] if inner else []
        if target.kind == "custom" and not target.schema:
            return self.inputs[node]
        names = list(target.mutates)
        if any(text in target.label for text in _NORMALIZES) and not self._is_evaluated(node):
            names += _RUNNING
        return self._inputs_by_name(node, names) if names else []

    def _is_evaluated(self, node: int) -> bool:
        """Whether an op has training=False."""
        call = self._call(node)
        flags = [call[name].text for name in _TRAINS if name in call]
        return bool(flags) and all(flag in _FALSE for flag in flags)

    def _is_random(self, node: int) -> bool:
        target = self._target(node)
        if target is None:
            return False
        if any(any(effects.draws) for effects in self._inner.get(node, ())):
            return True
        if _SEEDED not in target.tags or self._is_evaluated(node):
            return False
        declared = "dropout_p=" in target.schema.replace(" ", "")
        chance = self._call(node).get("dropout_p")
        return not declared or (chance is not None and chance.text not in _FALSE)

    def _share(self, inside: bool) -> None:
        """Joins values that may share memory."""
        if inside:  # a graph may be given one tensor under several names
            held = [node for node, op in enumerate(self._graph.op) if op == 0]
            for node in held[1:]:
                self._join(held[0], node)
        for node in range(len(self._memory)):
            for number in self._find_aliases(node):
                self._join(node, number)

    def _find_aliases(self, node: int) -> list[int]:
        target = self._target(node)
        if target is None:
            return []
        unknown = target.kind == "custom" and not target.schema
        if unknown or node in self._inner or target.kind == "python" or "dropout" in target.label:
            return self.inputs[node]
        names = [*target.mutates, *target.aliases]
        return self._inputs_by_name(node, names) if names else []

    def _join(self, one: int, other: int) -> None:
        self._memory[self._root(one)] = self._root(other)

    def _root(self, node: int) -> int:
        while self._memory[node] != node:
            self._memory[node] = self._memory[self._memory[node]]
            node = self._memory[node]
        return node


def find_reordered(one: Effects, other: Effects, partner: Mapping[int, int]) -> int | None:
    """The first node of a graph that may not come where it comes in another one; None if all may.

    Args:
        one: of the first graph.
        other: of the second.
        partner: per node of the first, its node of the second, whose inputs are partners too.
    """
    drawn = [partner[node] for node, draws in enumerate(one.draws) if draws and node in partner]
    for node, now in zip(sorted(drawn), drawn, strict=True):
        if node != now:
            return next(number for number, twin in partner.items() if twin == now)
    if not one.has_writes and not other.has_writes:
        return None
    ours, theirs = one.epochs(), other.epochs()
    for node, twin in sorted(partner.items()):
        if {partner.get(number, -1): epoch for number, epoch in ours[node].items()} != theirs[twin]:
            return node
    return None
