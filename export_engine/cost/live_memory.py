"""Live memory along a graph: what each op adds, and what is let go of behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from export_engine.cost.amount import Amount
from export_engine.cost.op_call import OpCall
from export_engine.cost.op_cost import is_view
from export_engine.record import Graph


class Held(NamedTuple):
    """Memory that an op of the graph makes, from there to its last use."""

    node: int
    """The op that makes it."""
    last: int
    """The last node that reads it, also through views; the graph's end for an output."""
    bytes: Amount | None
    """None where its size is not known."""


def memory_of(graph: Graph, calls: Sequence[OpCall | None]) -> list[Held]:
    """The tensors that the ops of a graph make; inputs and weights are the caller's.

    A view holds what it is a view of. What an op writes to in place makes nothing. A tensor is let
    go of behind its last use, as the program's own code does.

    Args:
        graph: a graph of the Record.
        calls: per node, its call; None for a node that calls nothing.
    """
    groups = owners_of(graph, calls)
    last: dict[int, int] = {}
    sizes: dict[int, Amount | None] = {}
    starts = graph.inputs.starts
    for node in range(len(graph.name)):
        for item in graph.inputs.items[starts[node] : starts[node + 1]]:
            last.update(dict.fromkeys(groups.get(item, ()), node))
        call = calls[node]
        if call is not None and groups.get(node) == frozenset({node}):
            last[node] = node
            sizes[node] = call.bytes(*call.results)
    return [Held(node, last[node], size) for node, size in sizes.items()]


def owners_of(graph: Graph, calls: Sequence[OpCall | None]) -> dict[int, frozenset[int]]:
    """Per node, the ops whose memory its value is in: itself, or what it is a view of.

    Args:
        graph: a graph of the Record.
        calls: as `memory_of` takes them.
    """
    groups: dict[int, frozenset[int]] = {}
    starts = graph.inputs.starts
    for node, call in enumerate(calls):
        if call is None:
            continue
        inputs = graph.inputs.items[starts[node] : starts[node + 1]]
        if call.target.mutates or is_view(call) or call.target.name.endswith("getitem"):
            groups[node] = frozenset(owner for source in inputs for owner in groups.get(source, ()))
        elif call.results:
            groups[node] = frozenset({node})
    return groups
