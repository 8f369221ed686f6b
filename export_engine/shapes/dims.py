"""The spec of one dim: static, automatic, dynamic, pinned, named or computed; and int arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from export_engine.shapes.errors import ShapesError
from export_engine.shapes.expressions import check_numbers
from export_engine.shapes.names import LARGEST, check_name, check_size
from export_engine.sizes import Expression, linear


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
    called: str = field(default="", compare=False, repr=False)
    """The name of the Dim that it stands for, which torch is not told; empty if for none."""

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
        check_size(self.size)


@dataclass(frozen=True)
class Named:
    """A Dim, or one derived from it: `scale * name + offset`. The same name is the same Dim."""

    name: str
    scale: int = 1
    offset: int = 0

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.scale < 1:
            raise ShapesError(f"{self.scale}*{self.name} is not a dim: multiply by 1 or more")
        check_size(self.scale)
        check_size(abs(self.offset))

    @property
    def derived(self) -> bool:
        """Whether it is more than the Dim itself."""
        return self.scale != 1 or self.offset != 0


@dataclass(frozen=True)
class Computed:
    """A size computed from others in a way that no Dim can express.

    Written `(a + b)`, `(seq // 2)`.
    """

    expression: Expression

    def __post_init__(self) -> None:
        check_numbers(self.expression)


@dataclass(frozen=True)
class Int:
    """An int argument whose value may vary, below 0 too. Written `int`, `int[-4..]`."""

    low: int | None = None
    high: int | None = None

    def __post_init__(self) -> None:
        for value in (self.low, self.high):
            if value is not None:
                check_size(abs(value))
        _check_order(Bounds(self.low, self.high))


Spec = Static | Auto | Dynamic | Pinned | Named | Computed | Int


def names_of(leaves: Mapping[str, tuple[Spec, ...]]) -> list[str]:
    """The names of all Dims, in order of first mention."""
    items = (spec for specs in leaves.values() for spec in specs)
    return list(dict.fromkeys(item.name for item in items if isinstance(item, Named)))


def ints_of(leaves: Mapping[str, tuple[Spec, ...]]) -> dict[str, Int]:
    """The int arguments that expressions can name, by that name: their path."""
    return {
        path: specs[0]
        for path, specs in leaves.items()
        if specs and isinstance(specs[0], Int) and path.isidentifier()
    }


def simplest(spec: Spec, ints: Collection[str] = ()) -> Spec:
    """A Computed that is one Dim's, or a number, as that spec; others unchanged.

    Args:
        spec: any.
        ints: names that are int arguments, not Dims.
    """
    pair = linear(spec.expression) if isinstance(spec, Computed) else None
    if pair is None:
        return spec
    scales, offset = pair
    if max(abs(offset), *scales.values(), 0) > LARGEST:
        return spec
    if not scales and offset >= 0:
        return Pinned(offset)
    if len(scales) == 1:
        ((name, scale),) = scales.items()
        if scale >= 1 and name not in ints:
            return Named(name, scale, offset)
    return spec


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
            check_size(size)
    _check_order(bounds)


def _check_order(bounds: Bounds) -> None:
    low, high = bounds
    if low is not None and high is not None and low > high:
        raise ShapesError(f"{low} is more than {high}; write the smaller bound first")
