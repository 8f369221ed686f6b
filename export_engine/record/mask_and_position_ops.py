"""Which nodes of a graph are plumbing: masks, positions and sizes, which no data flows through.

Told by what flows in and out, never by names of functions or variables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from export_engine.record.graph import OPS, Graph, Group, ValueType
from export_engine.record.record import Record

_PLACEHOLDER, _GET_ATTR, _OUTPUT = (OPS.index(op) for op in ("placeholder", "get_attr", "output"))
_CONTINUOUS = ("float", "bfloat", "complex")
_SIZES = ("int", "bool", "none")

_ONLY_LOOKS = frozenset(
    {
        *("new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros"),
        *("empty_like", "full_like", "ones_like", "zeros_like", "rand_like", "randn_like"),
    }
)
"""Ops that read sizes and a dtype of a tensor, not what is in it."""


def plumbing_nodes(record: Record, graph: Graph) -> frozenset[int]:
    """The calls that depend on no data, and that are read by what does or by nothing at all.

    Data is every floating-point input, parameter and buffer, and what is worked out of it. Results
    of a program of integers are not plumbing.
    """
    starts, items = graph.inputs.starts, graph.inputs.items
    looks = {at for at, target in enumerate(record.targets) if target.label in _ONLY_LOOKS}
    scalars = _scalars(record, graph)
    is_data = [False] * len(graph.name)
    for node, op in enumerate(graph.op):
        kind = record.types[graph.type[node]] if graph.type[node] >= 0 else None
        if op in (_PLACEHOLDER, _GET_ATTR):
            is_data[node] = kind is not None and node not in scalars and _is_continuous(kind)
        elif op != _OUTPUT and graph.target[node] not in looks and not _is_size(kind):
            is_data[node] = any(
                is_data[number] for number in items[starts[node] : starts[node + 1]]
            )
    outside = (_PLACEHOLDER, _GET_ATTR, _OUTPUT)
    is_read = [False] * len(graph.name)
    is_result = [op == _OUTPUT for op in graph.op]
    for node in reversed(range(len(graph.name))):
        for item in items[starts[node] : starts[node + 1]]:
            is_read[item] = is_read[item] or is_data[node] or is_read[node]
            is_result[item] = is_result[item] or is_result[node]
    return frozenset(
        node
        for node, op in enumerate(graph.op)
        if op not in outside and not is_data[node] and (is_read[node] or not is_result[node])
    )


def _scalars(record: Record, graph: Graph) -> set[int]:
    """The inputs of a main graph that are constants of one element, such as -inf."""
    if not record.graphs or graph is not record.graphs[0]:
        return set()
    return {
        entry.node
        for entry in record.signature.inputs
        if entry.kind not in ("user_input", "parameter")
        and entry.type >= 0
        and record.types[entry.type].shape == []
    }


def _is_continuous(kind: ValueType) -> bool:
    if kind.kind == "tensor":
        return kind.dtype.startswith(_CONTINUOUS)
    return kind.kind == "float"


def _is_size(kind: ValueType | None) -> bool:
    return kind is not None and kind.kind in _SIZES


def neighbours(
    graph: Graph,
    nodes: Sequence[int],
    of_node: Sequence[int],
    groups: Sequence[Group],
    module_of: Callable[[int], int],
) -> list[list[int]]:
    """Plumbing in the code of a module itself, or of a function, in sets that edges join.

    Two that are joined through something else are separate: as one, they would read themselves.

    Args:
        graph: the graph.
        nodes: the plumbing, in order.
        of_node: per node its group, -1 for none.
        groups: the groups; what stands in plumbing is folded with it.
        module_of: the module that a scope stands for.
    """
    starts, items = graph.inputs.starts, graph.inputs.items
    place = {
        node: (module_of(graph.scope[node]), of_node[node])
        for node in nodes
        if of_node[node] < 0 or not groups[of_node[node]].plumbing
    }
    level = _levels(graph, place)
    head: dict[int, int] = {node: node for node in place}

    def root(node: int) -> int:
        while head[node] != node:
            head[node] = head[head[node]]
            node = head[node]
        return node

    for node, at in place.items():
        for item in items[starts[node] : starts[node + 1]]:
            if place.get(item) == at and level[item] == level[node]:
                head[root(node)] = root(item)
    sets: dict[int, list[int]] = defaultdict(list)
    for node in place:
        sets[root(node)].append(node)
    return [numbers for numbers in sets.values() if len(numbers) > 1]


def _levels(graph: Graph, place: dict[int, tuple[int, int]]) -> list[int]:
    """Per node, how often the way to it leaves the place that it is in."""
    starts, items = graph.inputs.starts, graph.inputs.items
    level = [0] * len(graph.name)
    for node in range(len(graph.name)):
        for item in items[starts[node] : starts[node + 1]]:
            is_free = graph.op[item] == _PLACEHOLDER or graph.housekeeping[item]
            left = not is_free and place.get(item) != place.get(node)
            level[node] = max(level[node], level[item] + left)
    return level
