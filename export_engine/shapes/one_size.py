"""What a relation about one size says of it, as bounds: `seq + min(1, seq) >= 1` is `seq >= 1`."""

from __future__ import annotations

from export_engine.record import Formula
from export_engine.shapes.dims import Bounds
from export_engine.shapes.expressions import Expression, Operation, Relation, Size
from export_engine.shapes.piecewise import Pieces, solved_by_residue
from export_engine.shapes.polynomials import Unsolved

_MOST_PERIOD = 256


def bounds_said(relation: Relation) -> Bounds | None:
    """The sizes for which a relation holds, where they are all between two; else None.

    Args:
        relation: about one size, which is 0 or more.
    """
    if len(relation.names) != 1:
        return None
    formula = [*_formula(relation.left), *_formula(relation.right), relation.operator]
    try:
        solved = solved_by_residue(formula, _MOST_PERIOD)
    except Unsolved:
        return None
    period = len(solved)
    left = [_left(ruled_out, at, period) for at, ruled_out in enumerate(solved)]
    if any(len(each) != 1 for each in left):
        return None
    firsts, lasts = [each[0][0] for each in left], [each[0][1] for each in left]
    low = min(firsts)
    high = max((each for each in lasts if each is not None), default=None)
    whole = [
        (low + (at - low) % period, None if high is None else high - (high - at) % period)
        for at in range(period)
    ]
    return Bounds(low or None, high) if whole == list(zip(firsts, lasts, strict=True)) else None


def holds_always(relation: Relation) -> bool:
    """Whether it is known that every size from 0 on fulfils a relation, which is about one."""
    return bounds_said(relation) == Bounds(None, None)


def _formula(expression: Expression) -> Formula:
    match expression:
        case Size():
            return ["d0"]
        case Operation(sign, left, right):
            return [*_formula(left), *_formula(right), sign]
    return [expression]


def _left(ruled_out: Pieces, residue: int, period: int) -> Pieces:
    """Of the sizes with a residue, the runs that are not ruled out."""
    found: Pieces = []
    at = residue
    for low, high in sorted(ruled_out, key=lambda piece: piece[0]):
        if low > at:
            found.append((at, low - period))
        if high is None:
            return found
        at = max(at, high + period)
    return [*found, (at, None)]
