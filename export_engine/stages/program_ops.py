"""Which op of the exported program an op of the compiler's first graph is.

Dynamo names the ops of a program again, and leaves out what nothing reads. Both graphs have the ops
in the same order, so they are aligned by what ops call and by the types of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from export_engine.record import OPS, Record
from export_engine.stages.printed_graph import PrintedOp, read_printed_type

_CALLS = {OPS.index(op) for op in ("call_function", "call_module", "call_method")}


class _Key(NamedTuple):
    target: str
    dtype: str
    rank: int


def list_computing_ops(record: Record) -> list[int]:
    """The ops of the main graph that compute something: without checks and sizes."""
    graph = record.graphs[0]
    return [
        node
        for node, op in enumerate(graph.op)
        if op in _CALLS and not graph.housekeeping[node] and not _is_item(record, node)
    ]


def align_program(record: Record, printed: Sequence[PrintedOp]) -> dict[str, int]:
    """The node of the main graph for each op of a printed graph, by the printed name.

    Args:
        record: of the program that was compiled.
        printed: the compiler's first graph. An op that only takes an item is left out.
    """
    graph = record.graphs[0]
    nodes = list_computing_ops(record)
    ops = [op for op in printed if op.target not in ("", "getitem")]
    theirs = [_key(record, node) for node in nodes]
    ours = [_key_of_printed(op) for op in ops]
    named = {record.strings[graph.name[node]]: node for node in nodes}
    if len({op.name for op in ops} - named.keys()) == 0 and all(
        theirs_of(record, named[op.name]) == op.target for op in ops
    ):
        same = {op.name: named[op.name] for op in ops}
        if list(same.values()) == sorted(same.values()):
            return same
    aligned: dict[str, int] = {}
    for start, there, count in _matching(ours, theirs):
        for step in range(count):
            aligned[ops[start + step].name] = nodes[there + step]
    return aligned


def theirs_of(record: Record, node: int) -> str:
    """The target of a node of the main graph: `aten.linear.default`."""
    target = record.graphs[0].target[node]
    return record.targets[target].name if target >= 0 else ""


def _matching(ours: list[_Key], theirs: list[_Key]) -> list[tuple[int, int, int]]:
    """Runs of equal keys: where they begin in each, and how long they are."""
    start = 0
    while start < min(len(ours), len(theirs)) and ours[start] == theirs[start]:
        start += 1
    matcher = SequenceMatcher(None, ours[start:], theirs[start:], autojunk=False)
    rest = [(a + start, b + start, count) for a, b, count in matcher.get_matching_blocks()]
    return [(0, 0, start), *rest]


def _key(record: Record, node: int) -> _Key:
    kind = record.graphs[0].type[node]
    value = record.types[kind] if kind >= 0 else None
    if value is None or value.kind != "tensor":
        return _Key(theirs_of(record, node), "", -1)
    return _Key(theirs_of(record, node), value.text.partition("[")[0], len(value.shape))


def _key_of_printed(op: PrintedOp) -> _Key:
    value = read_printed_type(op.type)
    if value is None:
        return _Key(op.target, "", -1)
    return _Key(op.target, value.dtype, len(value.shape))


def _is_item(record: Record, node: int) -> bool:
    return theirs_of(record, node).endswith("getitem")
