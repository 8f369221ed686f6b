"""Proves that two programs are the same up to the names of nodes and symbols. Trusts no heuristic.

The pairing is forced, and what cannot be paired so is a difference. Paired nodes have the same op,
arguments, type and nested graphs; names of symbols correspond one to one; and ops that write or
draw random numbers come in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from export_engine.diff.calls import blank, holds_opaque, read_call
from export_engine.diff.effects import Effects, find_reordered
from export_engine.diff.forced_pairs import GraphPair, Mismatch, Nested, Walk
from export_engine.diff.symbol_pairs import SymbolPairs
from export_engine.record import OPS, Change, GraphDiff, Record, Target

_PLACEHOLDER, _OUTPUT = OPS.index("placeholder"), OPS.index("output")


@dataclass
class Proof:
    """The proof for two programs."""

    pairs: dict[GraphPair, dict[int, int]]
    """Per pair of graphs, per node of the first its node of the second."""
    nested: dict[GraphPair, list[Nested]]
    """Per pair of graphs, those that their nodes run."""
    symbols: dict[int, int]
    """Per symbol of the first program, the same one of the second; by number."""
    renamed: list[tuple[int, int]]
    """Pairs of weights of the main graphs whose names differ."""
    mismatch: Mismatch | None = None
    """The first difference; None where the programs are the same."""

    @property
    def holds(self) -> bool:
        """Whether the programs are the same, up to the names of nodes, symbols and `renamed`."""
        return self.mismatch is None


def prove_identical(before: Record, after: Record, same_objects: bool = False) -> Proof:
    """Proves two programs the same, or says where they differ first.

    It is of the graphs, the order of inputs and outputs, and the names of weights; guards, ranges
    and the values of weights are compared elsewhere.

    Args:
        before: a program.
        after: another.
        same_objects: whether objects of one class are taken for the same, as those of a program and
            its own Record are.
    """
    prover = _Prover(before, after, same_objects or before is after)
    try:
        prover.run()
    except Mismatch as mismatch:
        return prover.proof(mismatch)
    return prover.proof()


class _Prover:
    """Pairs the nodes of two programs, graph by graph."""

    def __init__(self, before: Record, after: Record, same_objects: bool) -> None:
        self._records = before, after
        self._same_objects = same_objects
        self.pairs: dict[GraphPair, dict[int, int]] = {}
        self.nested: dict[GraphPair, list[Nested]] = {}
        self.renamed: list[tuple[int, int]] = []
        self.symbols = SymbolPairs(before, after)
        self._schemas = _find_schemas(before, after)

    def proof(self, mismatch: Mismatch | None = None) -> Proof:
        """The proof."""
        return Proof(self.pairs, self.nested, self.symbols.partner, self.renamed, mismatch)

    def run(self) -> None:
        """Raises Mismatch where the programs are not the same."""
        waiting: list[GraphPair] = [(0, 0)]
        walks: list[Walk] = []
        while waiting:
            graphs = waiting.pop()
            if graphs in self.pairs:
                continue
            walk = Walk(*self._records, graphs)
            self.pairs[graphs] = walk.partner
            walk.run()
            walks.append(walk)
            self.nested[graphs] = list(walk.iter_nested())
            waiting += [(item.before, item.after) for item in self.nested[graphs]]
        for walk in walks:
            self.renamed += walk.renamed
        self._check_types(walks)
        for walk in walks:
            self._check_texts(walk)
            self._check_order(walk)

    def _check_types(self, walks: list[Walk]) -> None:
        """Every value has the same type, with symbols that correspond one to one."""
        first: dict[tuple[int, int], tuple[Walk, int]] = {}
        for walk in walks:
            types = walk.one.graph.type, walk.other.graph.type
            for node in walk.in_order():
                twin = walk.partner[node]
                first.setdefault((types[0][node], types[1][twin]), (walk, node))
        wrong = self.symbols.pair_types(first)
        if wrong is not None:
            walk, node = first[wrong]
            texts = [
                record.types[number].text if number >= 0 else ""
                for record, number in zip(self._records, wrong, strict=True)
            ]
            raise walk.mismatch(node, "type", *texts)

    def _check_texts(self, walk: Walk) -> None:
        """The arguments are the same, the inputs aside."""
        for node, twin in walk.partner.items():
            op = walk.one.graph.op[node]
            if op == _PLACEHOLDER:
                continue
            texts = walk.one.args(node), walk.other.args(twin)
            if op == _OUTPUT:
                texts = _flat(texts[0]), _flat(texts[1])
            is_known = self._same_objects or not walk.one.is_opaque(node)
            if not is_known or not self._says_the_same(*texts, walk.schema(node)):
                raise walk.mismatch(node, "arguments", *map(blank, texts))

    def _says_the_same(self, before: str, after: str, schema: str) -> bool:
        if holds_opaque(before) and not self._same_objects:
            return False
        if before == after and not self.symbols.mentions(before):
            return True
        ours, theirs = (read_call(text, schema) for text in (before, after))
        return ours.keys() == theirs.keys() and all(
            self.symbols.says_the_same(ours[name].text, theirs[name].text) for name in ours
        )

    def _check_order(self, walk: Walk) -> None:
        """Only nodes that do not depend on each other trade places."""
        order = [walk.partner[node] for node in walk.in_order()]
        if order == sorted(order):
            return
        ours, theirs = (
            Effects(record, number, self._schemas)
            for record, number in zip(self._records, walk.graphs, strict=True)
        )
        node = find_reordered(ours, theirs, walk.partner)
        if node is not None:
            raise walk.mismatch(node, "order", *walk.places(node))


def _flat(text: str) -> str:
    """A graph's outputs in order; a graph does not record whether they are a tuple or a list."""
    return ", ".join(filter(None, re.split(r"[\s,()\[\]]+", text)))


def _find_schemas(*records: Record) -> Mapping[str, Target]:
    """Targets by name; of those with one name, one that has a schema."""
    targets: dict[str, Target] = {}
    for record in records:
        for target in record.targets:
            if target.name not in targets or not targets[target.name].schema:
                targets[target.name] = target
    return targets


def with_mismatch(graphs: Sequence[GraphDiff], mismatch: Mismatch) -> list[GraphDiff]:
    """Differences of graphs with the one that the proof met, where nothing else was noticed."""
    return [
        _with_change(graph, mismatch) if (graph.before, graph.after) == mismatch.graphs else graph
        for graph in graphs
    ]


def _with_change(graph: GraphDiff, mismatch: Mismatch) -> GraphDiff:
    change = Change(mismatch.what, mismatch.before, mismatch.after)
    for at, pair in enumerate(graph.pairs):
        if pair.before == mismatch.node or (mismatch.node < 0 and pair.after == mismatch.partner):
            pairs = list(graph.pairs)
            pairs[at] = replace(pair, changes=[*pair.changes, change])
            return replace(graph, pairs=pairs)
    if mismatch.node >= 0:
        return replace(graph, removed=[*graph.removed, mismatch.node])
    return replace(graph, added=[*graph.added, mismatch.partner])
