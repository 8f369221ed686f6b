"""Ops that split partitions: the ops outside that lie between two of them."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from export_engine.delegate.backend import Lowered
from export_engine.record import PartitionSplit


def find_splits(lowered: Lowered) -> list[PartitionSplit]:
    """Per two partitions with nothing but ops outside between them: these ops, in order.

    Only of the main graph; a graph of a branch or a loop is not a partition's neighbour.
    """
    assert lowered.program is not None
    graph = lowered.program.graph
    numbers = _calls(graph, lowered.partitions)
    before: dict[torch.fx.Node, frozenset[int]] = {}
    for node in graph.nodes:
        before[node] = _find_reachable(node.all_input_nodes, numbers, before)
    after: dict[torch.fx.Node, frozenset[int]] = {}
    for node in reversed(graph.nodes):
        after[node] = _find_reachable(node.users, numbers, after)
    between: dict[tuple[int, int], list[str]] = {}
    for node in graph.nodes:
        if node.op != "call_function" or node in numbers or _is_pick(node):
            continue
        for first in before[node]:
            for last in after[node] - {first}:
                between.setdefault((first, last), []).append(node.name)
    return [
        PartitionSplit(before=first, after=last, ops=names)
        for (first, last), names in between.items()
    ]


def _calls(graph: torch.fx.Graph, partitions: tuple[str, ...]) -> dict[torch.fx.Node, int]:
    """The nodes that run a partition, each with its number."""
    return {
        call: partitions.index(str(node.target))
        for node in graph.nodes
        if node.op == "get_attr" and str(node.target) in partitions
        for call in node.users
    }


def _find_reachable(
    nodes: Iterable[torch.fx.Node],
    numbers: dict[torch.fx.Node, int],
    known: dict[torch.fx.Node, frozenset[int]],
) -> frozenset[int]:
    items: set[int] = set()
    for node in nodes:
        items |= {numbers[node]} if node in numbers else known.get(node, frozenset())
    return frozenset(items)


def _is_pick(node: torch.fx.Node) -> bool:
    return getattr(node.target, "__name__", "") == "getitem"
