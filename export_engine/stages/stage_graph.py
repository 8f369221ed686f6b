"""A graph of a compilation as data: its ops, what they read, and where its inputs come from."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from export_engine.record import OPS, Ragged, Record, StageGraph
from export_engine.stages.printed_graph import (
    PrintedInput,
    read_operands,
    read_printed_graph,
    read_printed_inputs,
    read_printed_outputs,
)

_PLACEHOLDER = OPS.index("placeholder")


class InputJoin:
    """Which placeholder of the program an input of a later graph is.

    The compiler's first graph calls the same ops on the same operands as the program. Later graphs
    name inputs again, and keep their order and types.
    """

    def __init__(self, record: Record | None, text: str, aligned: Mapping[str, int]) -> None:
        """Make one.

        Args:
            record: of the program; None where it is not at hand.
            text: the compiler's first graph, as torch prints it.
            aligned: per op of it, by name, the node of the program.
        """
        inputs = read_printed_inputs(text)
        self._types = [row.type for row in inputs.values() if not row.attribute]
        self._nodes: list[int] = []
        self._attributes: dict[str, int] = {}
        if record is None or not record.graphs:
            return
        self._attributes = {
            entry.target: entry.node for entry in record.signature.inputs if entry.target
        }
        nodes = _pair_operands(record, text, aligned, inputs)
        self._nodes = [nodes.get(n, -1) for n, row in inputs.items() if not row.attribute]

    def find_nodes(self, inputs: Mapping[str, PrintedInput]) -> list[int]:
        """Per input of a later graph, the placeholder that it is; -1 where that is not certain."""
        own = [row.type for row in inputs.values() if not row.attribute]
        ordered = iter(self._nodes if own == self._types and self._nodes else [-1] * len(own))
        return [
            self._attributes.get(row.attribute, -1) if row.attribute else next(ordered)
            for row in inputs.values()
        ]


def _pair_operands(
    record: Record, text: str, aligned: Mapping[str, int], inputs: Mapping[str, PrintedInput]
) -> dict[str, int]:
    """Per input of the first graph, the placeholder in the same position of an op's call."""
    graph, printed = record.graphs[0], read_printed_graph(text)
    # Dynamo gives an input a second name: `l_x_ = L_x_`
    second = {op.name: op.expression for op in printed if op.expression in inputs}
    names = {*inputs, *(op.name for op in printed)}
    starts, items = graph.inputs.starts, graph.inputs.items
    nodes: dict[str, set[int]] = {}
    for op in printed:
        node = aligned.get(op.name, -1)
        operands = read_operands(op.expression, names)
        read = items[starts[node] : starts[node + 1]] if node >= 0 else array("i")
        if len(operands) != len(read):
            continue
        for operand, own in zip(operands, read, strict=True):
            if graph.op[own] == _PLACEHOLDER:
                nodes.setdefault(second.get(operand, operand), set()).add(own)
    return {name: next(iter(own)) for name, own in nodes.items() if len(own) == 1}


def build_graph(
    name: Literal["decomposed", "post-grad"],
    text: str,
    nodes: Mapping[str, Sequence[int]],
    join: InputJoin,
) -> StageGraph:
    """A graph of a compilation.

    Args:
        name: of the stage.
        text: as torch prints it.
        nodes: per op, by name, the nodes of the program that it comes from.
        join: what an input of it is in the program.
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
        nodes=make_lists(origins),
        inputs=list(inputs),
        input_types=[row.type for row in inputs.values()],
        input_nodes=array("i", join.find_nodes(inputs)),
        reads=make_lists(reads),
        outputs=array("i", [numbers[w] for w in read_printed_outputs(text) if w in numbers]),
    )


def make_lists(lists: Iterable[Sequence[int]]) -> Ragged:
    """Lists of numbers as columns."""
    starts, items = array("i", [0]), array("i")
    for row in lists:
        items.extend(row)
        starts.append(len(items))
    return Ragged(starts, items)
