"""A graph of a compilation as data: its ops, what they read, and where its inputs come from."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from export_engine.record import OPS, Ragged, Record, StageGraph
from export_engine.stages.printed_graph import (
    read_operands,
    read_printed_graph,
    read_printed_inputs,
    read_printed_outputs,
    read_printed_type,
)

_PLACEHOLDER = OPS.index("placeholder")
_DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u8": "uint8",
    "b8": "bool",
}
"""The dtypes as torch prints them in a graph; of others an input is not told."""


def build_graph(
    name: Literal["decomposed", "post-grad"],
    text: str,
    nodes: Mapping[str, Sequence[int]],
    record: Record | None,
) -> StageGraph:
    """A graph of a compilation.

    Args:
        name: of the stage.
        text: as torch prints it.
        nodes: per op, by name, the nodes of the program that it comes from.
        record: of the program; None where it is not at hand.
    """
    ops, inputs = read_printed_graph(text), read_printed_inputs(text)
    numbers = {value: at for at, value in enumerate([*inputs, *(op.name for op in ops)])}
    reads = [[numbers[word] for word in read_operands(op.expression, numbers)] for op in ops]
    origins = [list(nodes.get(op.name, [])) for op in ops]
    return StageGraph(
        name=name,
        text=text,
        ops=[op.name for op in ops],
        targets=[op.target for op in ops],
        types=[op.type for op in ops],
        line=array("i", [op.line for op in ops]),
        nodes=_make_lists(origins),
        inputs=list(inputs),
        input_types=list(inputs.values()),
        input_nodes=array("i", _find_inputs(record, list(inputs.values()), reads, origins)),
        reads=_make_lists(reads),
        outputs=array("i", [numbers[w] for w in read_printed_outputs(text) if w in numbers]),
    )


def _make_lists(lists: Iterable[Sequence[int]]) -> Ragged:
    starts, items = array("i", [0]), array("i")
    for row in lists:
        items.extend(row)
        starts.append(len(items))
    return Ragged(starts, items)


def _find_inputs(
    record: Record | None,
    types: Sequence[str],
    reads: Sequence[Sequence[int]],
    origins: Sequence[Sequence[int]],
) -> list[int]:
    """Per input, the placeholder that it is: the only one of its type that its users' origins read.

    The compiler names inputs again and orders them in its own way, and tells of neither. An input
    for which several placeholders are left is -1.
    """
    if record is None or not record.graphs:
        return [-1] * len(types)
    graph = record.graphs[0]
    candidates: list[set[int] | None] = [None] * len(types)
    for values, nodes in zip(reads, origins, strict=True):
        starts, items = graph.inputs.starts, graph.inputs.items
        read = {n for node in nodes for n in items[starts[node] : starts[node + 1]]}
        placeholders = {node for node in read if graph.op[node] == _PLACEHOLDER}
        for value in values:
            if value < len(types) and placeholders:
                own = {node for node in placeholders if _has_type(record, node, types[value])}
                before = candidates[value]
                candidates[value] = own if before is None else before & own
    return _choose_inputs(candidates)


def _choose_inputs(candidates: Sequence[set[int] | None]) -> list[int]:
    """The placeholders that are certain: two inputs are never the same one."""
    chosen = [-1] * len(candidates)
    left = {at: set(nodes) for at, nodes in enumerate(candidates) if nodes}
    while single := [at for at, nodes in left.items() if len(nodes) == 1]:
        (node,) = left.pop(single[0])
        chosen[single[0]] = node
        for nodes in left.values():
            nodes.discard(node)
    return chosen


def _has_type(record: Record, node: int, printed: str) -> bool:
    """Whether a placeholder's dtype and plain sizes are as printed; a symbol matches any size."""
    number, shown = record.graphs[0].type[node], read_printed_type(printed)
    if number < 0 or shown is None:
        return False
    value = record.types[number]
    if value.dtype != _DTYPES.get(shown.dtype) or len(value.shape) != len(shown.shape):
        return False
    pairs = zip(value.shape, shown.shape, strict=True)
    return all(
        isinstance(own, str) or not size.isdigit() or str(own) == size for own, size in pairs
    )
