"""Default bounds: those without a recorded cause. It imports no torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from export_engine.record import Bound

_BORN = 2
"""torch specializes on 0 and 1: a dynamic size is assumed to be 2 or more."""
_DEFAULTS = {
    0: "no size is negative",
    1: "no size is negative, and 0 is excluded",
    2: "torch assumes that every dynamic size is at least 2, and specializes on 0 and 1",
}


def default_bounds(lower: int | None, upper: int | None) -> Iterator[Bound]:
    """The bounds of a range that are not open."""
    if lower is not None:
        yield default_bound("lower", lower)
    if upper is not None:
        yield default_bound("upper", upper)


def default_bound(side: Literal["lower", "upper"], value: int) -> Bound:
    """One end."""
    if side == "lower" and value <= _BORN:
        return Bound(side, value, "default", _DEFAULTS[min(max(value, 0), 2)])
    return Bound(side, value, "default", "follows from the other bounds")
