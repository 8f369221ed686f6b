"""A relation on one size as bounds: `seq + min(1, seq) >= 1` is `seq >= 1`."""

from __future__ import annotations

from export_engine.shapes.dims import Bounds
from export_engine.shapes.expressions import Relation
from export_engine.sizes import Pieces, Unsolved, solve_by_residue

_MOST_PERIOD = 256


def bounds_said(relation: Relation) -> Bounds | None:
    """The sizes for which a relation holds, where they are all between two; else None.

    Args:
        relation: about one size, which is 0 or more.
    """
    if len(relation.names) != 1:
        return None
    try:
        solved = solve_by_residue(relation.condition.formula, _MOST_PERIOD)
    except Unsolved:
        return None
    period = len(solved)
    left = [_left(ruled_out, at, period) for at, ruled_out in enumerate(solved)]
    if any(len(pairs) != 1 for pairs in left):
        return None
    firsts, lasts = [pairs[0][0] for pairs in left], [pairs[0][1] for pairs in left]
    low = min(firsts)
    high = max((number for number in lasts if number is not None), default=None)
    whole = [
        (low + (at - low) % period, None if high is None else high - (high - at) % period)
        for at in range(period)
    ]
    return Bounds(low or None, high) if whole == list(zip(firsts, lasts, strict=True)) else None


def holds_always(relation: Relation) -> bool:
    """Whether it is known that every size from 0 on fulfils a relation, which is about one."""
    return bounds_said(relation) == Bounds(None, None)


def _left(ruled_out: Pieces, residue: int, period: int) -> Pieces:
    """Runs of sizes with a residue that are not ruled out."""
    pairs: Pieces = []
    at = residue
    for low, high in sorted(ruled_out, key=lambda piece: piece[0]):
        if low > at:
            pairs.append((at, low - period))
        if high is None:
            return pairs
        at = max(at, high + period)
    return [*pairs, (at, None)]
