"""Inside of what an op became: which of those ops is wrong.

A decomposed program pairs with the one before only where an op's parts end. So where an error
enters, the program before is decomposed again by the same table, and both are compared by parts.
"""

from __future__ import annotations

from collections.abc import Callable

from export_engine.describe import describe
from export_engine.progress import Progress
from export_engine.transform import DecomposeError, decompose
from export_engine.values.comparing import PairError, RunOf, compare_runs


def inside_decomposition(
    one: RunOf, other: RunOf, progress: Callable[[Progress], None] | None = None
) -> list[PairError] | None:
    """The ops of a decomposed program that differ from what torch's decomposition gives.

    None where the first program is not a decomposition, where the other one is, or where all of
    its ops are right: then torch's decomposition is what differs.

    Args:
        one: the run in question.
        other: of the program before it was decomposed.
        progress: called every fifty ops.
    """
    level = one.exported.level
    if level is None or other.exported.level is not None or one.kind is not other.kind:
        return None
    try:
        again = decompose(other.exported, level.table)
    except DecomposeError:  # not at these sizes, or not any more: the op as a whole is named
        return None
    found = compare_runs(
        one, other._replace(exported=again, record=describe(again)), progress=progress
    )
    wrong = [row for row in found if row.beyond]
    return wrong or None
