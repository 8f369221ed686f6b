"""Default bounds: those without a recorded cause."""

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


def default_bounds(kind: str, lower: int | None, upper: int | None) -> Iterator[Bound]:
    """The bounds of a symbol's range that are not open.

    Args:
        kind: of the symbol, `backed` or `unbacked`.
        lower: its least value.
        upper: its greatest value.
    """
    sides: tuple[tuple[Literal["lower", "upper"], int | None], ...]
    sides = ("lower", lower), ("upper", upper)
    for side, value in sides:
        if value is None:
            continue
        if kind == "unbacked" and (lower, upper) == (0, 1):
            yield Bound(side, value, "default", "it is 0 or 1, as a bool is")
        elif side == "lower" and value <= _BORN:
            yield Bound(side, value, "default", _DEFAULTS[min(max(value, 0), 2)])
        else:
            yield Bound(side, value, "default", "follows from the other bounds")
