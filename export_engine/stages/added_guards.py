"""Sizes and strides of inputs that compiled code requires, and the program does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from export_engine.record import InputEntry, Record, StageGraph, StageGuard, ValueType
from export_engine.stages.printed_graph import PrintedType, read_printed_type


def find_added_guards(
    record: Record, graph: StageGraph, lines_of: Callable[[Sequence[int]], list[int]]
) -> list[StageGuard]:
    """The sizes and strides that compiling fixed, in the order of the inputs.

    Generated code asserts both of each input (`assert_size_stride`); the program leaves sizes with
    a symbol open, and asks for no strides.

    Args:
        record: of the program.
        graph: the last graph of the compilation that has inputs.
        lines_of: the lines, into `Stages.lines`, of nodes of the program.
    """
    entries = {row.node: row for row in record.signature.inputs if row.kind == "user_input"}
    guards = []
    for node, printed in zip(graph.input_nodes, graph.input_types, strict=True):
        entry, compiled = entries.get(node), read_printed_type(printed)
        if entry is None or compiled is None or entry.type < 0:
            continue
        lines = lines_of(_find_readers(record, node))
        for text in _describe(entry, record.types[entry.type], compiled):
            guards.append(StageGuard(node, text, lines))
    return guards


def _describe(entry: InputEntry, own: ValueType, compiled: PrintedType) -> Iterator[str]:
    name = entry.path or entry.name
    for dim, (open_size, size) in enumerate(zip(own.shape, compiled.shape, strict=False)):
        if isinstance(open_size, str) and size.isdigit():
            yield (
                f"`{name}.shape[{dim}]` is {size} in the compiled code; the program leaves "
                f"{open_size} open."
            )
    if compiled.stride:
        yield f"`{name}` has strides ({', '.join(compiled.stride)}) in the compiled code."


def _find_readers(record: Record, node: int) -> list[int]:
    graph = record.graphs[0]
    starts, items = graph.inputs.starts, graph.inputs.items
    return [at for at in range(len(graph.name)) if node in items[starts[at] : starts[at + 1]]]
