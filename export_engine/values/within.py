"""Inside of what an op became: which of those ops is wrong.

A decomposed program pairs with the one before only where an op's parts end. So where an error
enters, the program before is decomposed again by the same table, and both are compared by parts.
"""

from __future__ import annotations

from collections.abc import Callable

from export_engine.attempt import Exported
from export_engine.describe import describe
from export_engine.progress import Progress
from export_engine.record import Record
from export_engine.transform import DecomposeError, decompose
from export_engine.values.comparing import compare_runs
from export_engine.values.pair_error import PairError, RunOf


def inside_decomposition(
    one: RunOf, other: RunOf, progress: Callable[[Progress], None] | None = None
) -> list[PairError] | None:
    """The errors of a decomposed program's ops against what torch's decomposition gives.

    None where the first program is not a decomposition, or where the other one is.

    Args:
        one: the run in question.
        other: of the program before it was decomposed.
        progress: called every fifty ops.
    """
    again = _decompose_like(other, one)
    if again is None:
        return None  # the op as a whole is named
    again_run = other._replace(exported=again, record=describe(again))
    return compare_runs(one, again_run, progress=progress).rows


def _decompose_like(run: RunOf, like: RunOf) -> Exported | None:
    """The program of a run, decomposed as that of another of its kind was.

    None where that is not a decomposition, where the first is one, or where torch cannot do it at
    these sizes, or not any more.
    """
    level = like.exported.level
    if level is None or run.exported.level is not None or run.kind is not like.kind:
        return None
    try:
        return decompose(run.exported, level.table)
    except DecomposeError:
        return None


def inside_own(
    one: RunOf, other: RunOf, progress: Callable[[Progress], None] | None = None
) -> list[PairError] | None:
    """The ops of a program that are off, told by parts: it is decomposed as the other one was.

    None where the other program is not a decomposition, or where the first one is.

    Args:
        one: the run in question.
        other: of a decomposed program.
        progress: called every fifty ops.
    """
    parts = _decompose_like(one, other)
    if parts is None:
        return None  # the ops as they are, then
    record = describe(parts)
    result = compare_runs(one._replace(exported=parts, record=record), other, progress=progress)
    strings, graph = one.record.strings, one.record.graphs[0]
    numbers = {strings[name]: number for number, name in enumerate(graph.name)}
    rows = []
    for row in result.rows:
        at = row.fault[1] if not row.fault[0] else -1
        node = numbers.get(_came_of(record, at), -1) if at >= 0 else -1
        if row.beyond and node >= 0:
            rows.append(row._replace(node=node, graph=0, fault=(0, node)))
    return rows or None


def _came_of(record: Record, node: int) -> str:
    """The name of the op that an op was made of; its own, where torch made it of none."""
    level = record.level
    origin = level.origins[node] if level else -1
    return record.strings[origin if origin >= 0 else record.graphs[0].name[node]]
