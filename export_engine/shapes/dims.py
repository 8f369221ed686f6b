"""What one dim may be: static, automatic, dynamic, pinned or named, and the bounds of its size."""

from __future__ import annotations

import keyword
from dataclasses import dataclass
from typing import NamedTuple

from export_engine.shapes.errors import ShapesError

_LARGEST = 2**63 - 1


class Bounds(NamedTuple):
    """Least and greatest size, both allowed; None where that side is open."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Static:
    """The size of the example, always. Written `_`."""


@dataclass(frozen=True)
class Auto:
    """torch decides whether the size may vary (`Dim.AUTO`). Written `*`, `*[2..16]`."""

    low: int | None = None
    high: int | None = None

    def __post_init__(self) -> None:
        _check_bounds(Bounds(self.low, self.high))


@dataclass(frozen=True)
class Dynamic:
    """The size varies, or the export fails (`Dim.DYNAMIC`). Written `!`, `![2..16]`."""

    low: int | None = None
    high: int | None = None

    def __post_init__(self) -> None:
        _check_bounds(Bounds(self.low, self.high))


@dataclass(frozen=True)
class Pinned:
    """One given size. Written as the number."""

    size: int

    def __post_init__(self) -> None:
        _check_size(self.size)


@dataclass(frozen=True)
class Named:
    """A Dim, or one derived from it: `scale * name + offset`. The same name is the same Dim."""

    name: str
    scale: int = 1
    offset: int = 0

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.scale < 1:
            raise ShapesError(f"{self.scale}*{self.name} is no dim: multiply by 1 or more")
        _check_size(self.scale)
        _check_size(abs(self.offset))

    @property
    def derived(self) -> bool:
        """Whether it is more than the Dim itself."""
        return self.scale != 1 or self.offset != 0


Spec = Static | Auto | Dynamic | Pinned | Named


def check_name(name: str) -> None:
    """Raises ShapesError for a text that cannot be a Dim's name."""
    if name == "_":
        raise ShapesError("`_` is no name for a dim: it stands for a static one")
    if keyword.iskeyword(name):
        raise ShapesError(f"{name} is a Python keyword, no name for a dim; `_` is a static one")
    if not name.isidentifier():
        raise ShapesError(f"{name!r} is no name for a dim: a name is letters, digits and `_`")


def normal_bounds(name: str, bounds: Bounds) -> Bounds:
    """The bounds of a Dim, with the least size left out where it is 0: no size is less.

    Raises:
        ShapesError: they hold fewer than two sizes, which torch refuses.
    """
    _check_bounds(bounds)
    low, high = bounds
    if high is not None and high == (low or 0):
        raise ShapesError(f"{name} can only be {high}; write the size {high} instead of a name")
    return Bounds(low or None, high)


def _check_bounds(bounds: Bounds) -> None:
    low, high = bounds
    for size in (low, high):
        if size is not None:
            _check_size(size)
    if low is not None and high is not None and low > high:
        raise ShapesError(f"{low} is more than {high}; write the smaller bound first")


def _check_size(size: int) -> None:
    if not 0 <= size <= _LARGEST:
        raise ShapesError(f"{size} is no size: sizes are from 0 to 2**63 - 1")
