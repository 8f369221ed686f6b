"""The stages of a training step: its two passes, joined into one ladder."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from export_engine.record import OPS, Kernel, Record, StageGraph, StageRemark
from export_engine.stages.added_guards import find_added_guards
from export_engine.stages.joining import Artifacts, Joined, Ladder, Lines, join_stages
from export_engine.stages.kernel_calls import base_name
from export_engine.stages.printed_graph import read_printed_outputs
from export_engine.stages.remarks import CONSTANTS, VIEWS
from export_engine.stages.stage_graph import make_lists

PASSES = ("forward", "backward")
_PLACEHOLDER = OPS.index("placeholder")


def join_passes(record: Record, told: Sequence[Artifacts], outputs: int) -> Ladder:
    """The graphs and kernels of both passes, the forward pass first.

    The backward pass reads the ops whose results the forward pass saved.

    Args:
        record: of the joint graph.
        told: of the forward, and of the backward pass.
        outputs: how many outputs of the forward pass are the step's own. The others are saved.
    """
    graph = record.graphs[0]
    named = {record.strings[name]: node for node, name in enumerate(graph.name)}
    inputs = {name: node for name, node in named.items() if graph.op[node] == _PLACEHOLDER}
    lines = Lines(record)
    forward, backward = (
        join_stages(record, texts, provenance, named, lines) for texts, provenance in told
    )
    later = {graph.name: graph for graph in backward.graphs}
    graphs = [
        _join_graphs(first, later[first.name], inputs, outputs)
        for first in forward.graphs
        if first.name in later
    ]
    kernels = [*forward.kernels, *_continue_kernels(backward.kernels, forward)]
    codes = [
        msgspec.structs.replace(code, title=f"{name} {code.title}")
        for name, joined in zip(PASSES, (forward, backward), strict=True)
        for code in joined.codes
    ]
    remarks = [
        *forward.remarks,
        *(_move_remark(remark, len(forward.kernels)) for remark in backward.remarks),
        *_remark_recomputed(record, forward, backward, lines),
    ]
    guards = find_added_guards(record, graphs[-1], lines.of_nodes) if graphs else []
    removed = sorted(set(forward.removed) & set(backward.removed))
    joined = Joined(graphs, kernels, lines.rows, codes, removed, remarks, guards)
    return Ladder(joined, (forward, backward))


def _join_graphs(
    first: StageGraph, second: StageGraph, inputs: Mapping[str, int], outputs: int
) -> StageGraph:
    """Both passes as one graph, in which the second reads what the first saved."""
    values = [*first.inputs, *first.ops]
    numbers = {name: number for number, name in enumerate(values)}
    saved = {
        name: numbers[name]
        for name in read_printed_outputs(first.text)[outputs:]
        if name in numbers
    }
    own = [name for name in second.inputs if name not in saved]
    # ops of the first are counted on from the inputs of both
    moved = [
        number + (len(own) if number >= len(first.inputs) else 0) for number in range(len(values))
    ]
    of_second = [
        *(
            moved[saved[name]] if name in saved else len(first.inputs) + own.index(name)
            for name in second.inputs
        ),
        *range(len(values) + len(own), len(values) + len(own) + len(second.ops)),
    ]
    above = first.text.count("\n") + 1
    names = [*first.inputs, *own]
    types = dict(zip(second.inputs, second.input_types, strict=True))
    return StageGraph(
        name=first.name,
        text=f"{first.text}\n{second.text}",
        ops=[*first.ops, *second.ops],
        targets=[*first.targets, *second.targets],
        types=[*first.types, *second.types],
        line=array("i", [*first.line, *(above + line for line in second.line)]),
        nodes=make_lists([*_lists(first, "nodes"), *_lists(second, "nodes")]),
        inputs=names,
        input_types=[*first.input_types, *(types[name] for name in own)],
        input_nodes=array("i", [inputs.get(name, -1) for name in names]),
        reads=make_lists(
            [
                *([moved[value] for value in row] for row in _lists(first, "reads")),
                *([of_second[value] for value in row] for row in _lists(second, "reads")),
            ]
        ),
        outputs=array(
            "i",
            [
                *(moved[value] for value in first.outputs[:outputs]),
                *(of_second[value] for value in second.outputs),
            ],
        ),
    )


def _lists(graph: StageGraph, name: str) -> Iterator[Sequence[int]]:
    lists = getattr(graph, name)
    for at in range(len(graph.ops)):
        yield lists.items[lists.starts[at] : lists.starts[at + 1]]


def _continue_kernels(kernels: Sequence[Kernel], forward: Joined) -> Iterator[Kernel]:
    """The kernels of the backward pass, numbered on from those of the forward pass."""
    ops = len(forward.graphs[-1].ops) if forward.graphs else 0
    codes, calls = len(forward.codes), len(forward.kernels)
    for number, kernel in enumerate(kernels, calls + 1):
        yield msgspec.structs.replace(
            kernel,
            name=f"{base_name(kernel.name)}:{number}",
            ops=[op + ops for op in kernel.ops],
            code=kernel.code + codes if kernel.code >= 0 else -1,
            body=kernel.body + codes if kernel.body >= 0 else -1,
        )


def _move_remark(remark: StageRemark, by: int) -> StageRemark:
    return msgspec.structs.replace(remark, kernel=remark.kernel + by)


def _remark_recomputed(
    record: Record, forward: Joined, backward: Joined, lines: Lines
) -> Iterator[StageRemark]:
    """Ops of the forward pass that the backward pass computes again, so that none is saved."""
    if not forward.graphs or not backward.graphs:
        return
    first, second = forward.graphs[-1], backward.graphs[-1]
    earlier = set(zip(first.ops, first.targets, strict=True))
    of_pass = dict(enumerate(_lists(second, "nodes")))
    for number, kernel in enumerate(backward.kernels, len(forward.kernels)):
        again = [
            op
            for op in kernel.ops
            if (second.ops[op], second.targets[op]) in earlier
            and second.targets[op] not in VIEWS | CONSTANTS
        ]
        nodes = sorted({node for op in again for node in of_pass[op]})
        for line in lines.of_nodes(nodes):
            names = [
                record.strings[record.graphs[0].name[node]]
                for node in nodes
                if lines.of_nodes([node]) == [line]
            ]
            text = (
                f"The backward pass computes {', '.join(f'`{name}`' for name in names)} again "
                "instead of saving the result."
            )
            yield StageRemark(number, "recomputed", text, [line])
