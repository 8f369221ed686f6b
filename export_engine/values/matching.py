"""Which op of a program gives the same value as which op of another.

By what torch made from what, and else by structure, as `diff` matches them. Where an op was
decomposed, the last op that it became has its value; where it was quantized, its layer's result.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from export_engine.diff import diff_records
from export_engine.quantization import layer_pairs
from export_engine.record import OPS, GraphDiff, Record

GraphAt = tuple[int, int]
"""A graph of the program, and the other's that it pairs with."""
_CALL = OPS.index("call_function")


class GraphPair(NamedTuple):
    """A graph of a program, and which of its nodes give the same values as which of another's."""

    other: int
    """The graph of the other program."""
    nodes: dict[int, int]


def graph_pairs(record: Record, other: Record) -> dict[int, GraphPair]:
    """Per graph of a program that has a partner, its partner and the pairs of nodes.

    Raises:
        ValueError: one of them has no graph.
    """
    if record is other:
        return {
            number: GraphPair(number, {node: node for node in range(len(graph.name))})
            for number, graph in enumerate(record.graphs)
        }
    graphs = diff_records(other, record).graphs
    result = {
        graph.after: GraphPair(graph.before, {pair.after: pair.before for pair in graph.pairs})
        for graph in reversed(graphs)  # a graph that several nodes run: as the first one runs it
    }
    result[0] = GraphPair(0, _of_main(record, other, graphs[0]))
    return result


def _of_main(record: Record, other: Record, found: GraphDiff) -> dict[int, int]:
    pairs = {pair.after: pair.before for pair in found.pairs}
    taken = set(pairs.values())
    for became in found.became:
        old = [node for node in became.before if node not in taken]
        new = [node for node in became.after if node not in pairs]
        same = [(a, b) for a in reversed(new) for b in reversed(old) if _alike(record, a, other, b)]
        if same:
            pairs[same[0][0]] = same[0][1]
    return _with_layers(pairs, record, other)


def _with_layers(pairs: dict[int, int], record: Record, other: Record) -> dict[int, int]:
    """The pairs, and those of quantized layers, which structure does not tell."""
    layers = {
        node: partner
        for node, partner in layer_pairs(record, other).items()
        if _alike(record, node, other, partner)
    }
    theirs = set(layers.values())
    others = {node: partner for node, partner in pairs.items() if partner not in theirs}
    return {**others, **layers}


def _alike(record: Record, node: int, other: Record, partner: int) -> bool:
    return _kind(record, node) == _kind(other, partner)


def _kind(record: Record, node: int) -> tuple[str, int]:
    """Dtype and number of dims: sizes may have other names."""
    number = record.graphs[0].type[node]
    if number < 0:
        return "", -1
    kind = record.types[number]
    return kind.dtype, len(kind.shape)


def constants_of(record: Record, number: int = 0, held: Collection[int] = ()) -> set[int]:
    """Nodes made of parameters, buffers and constants alone.

    Args:
        record: the program.
        number: of the graph.
        held: of a nested graph, its placeholders that are given them.
    """
    graph = record.graphs[number]
    numbers = set(held)
    if not number:
        numbers |= {entry.node for entry in record.signature.inputs if entry.kind != "user_input"}
    for node, op in enumerate(graph.op):
        sources = graph.inputs.items[graph.inputs.starts[node] : graph.inputs.starts[node + 1]]
        if op == _CALL and len(sources) and all(source in numbers for source in sources):
            numbers.add(node)
    return numbers


def is_same_op(
    record: Record, node: int, other: Record, partner: int, at: GraphAt = (0, 0)
) -> bool:
    """Whether two nodes call the same op with the same arguments, their inputs aside.

    Args:
        record: the program of the first.
        node: its number in its graph.
        other: the program of the second.
        partner: its number.
        at: the graphs that they are in.
    """
    one, two = record.graphs[at[0]], other.graphs[at[1]]
    if one.target[node] < 0 or two.target[partner] < 0:
        return False
    return (
        record.targets[one.target[node]].name == other.targets[two.target[partner]].name
        and record.strings[one.args[node]] == other.strings[two.args[partner]]
    )
