"""Shapes: what is dynamic in a call, as one immutable value.

A Shapes names some leaves of the call's inputs and says, per dim, how its size may vary. Leaves it
does not name are static. Bounds belong to a Dim's name, not to a place where it stands. Nothing
here knows torch, nor the inputs of a call: whether a Shapes fits one, `to_torch` says.
"""

from __future__ import annotations

import keyword
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from export_engine.shapes.errors import ShapesError
from export_engine.shapes.paths import split_path

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


class Written(NamedTuple):
    """The text that a Shapes was parsed from, so that later errors can point into it."""

    text: str
    columns: Mapping[tuple[str, int | None], int]
    """Where a leaf's path stands (`("x", None)`), and each of its dims (`("x", 0)`)."""


@dataclass(frozen=True, repr=False)
class Shapes:
    """What is dynamic in a call. `str(shapes)` is the short language; `parse` is its inverse.

    Raises:
        ShapesError: a path or a bound is not one that the language can write.
    """

    leaves: Mapping[str, tuple[Spec, ...]] = field(default_factory=dict)
    """Per leaf, by its path (`x`, `cache.0.key`), one Spec per dim; an int input has one."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """Per Dim, by name. A Dim without an entry is free; one that no leaf mentions is dropped."""
    written: Written | None = field(init=False, compare=False, default=None)

    def __post_init__(self) -> None:
        leaves = {path: tuple(specs) for path, specs in self.leaves.items()}
        for path in leaves:
            if split_path(path) is None:
                raise ShapesError(f"{path!r} is no path; make one with join_path(parts)")
        object.__setattr__(self, "leaves", MappingProxyType(leaves))
        bounds = {
            name: normal_bounds(name, Bounds(*self.bounds.get(name, ()))) for name in self._names()
        }
        said = {name: each for name, each in bounds.items() if each != Bounds()}
        object.__setattr__(self, "bounds", MappingProxyType(said))

    @staticmethod
    def parse(text: str) -> Shapes:
        """The Shapes that a text in the short language stands for.

        Raises:
            ShapesError: the text does not follow the language; the error points at the column.
        """
        from export_engine.shapes.language import parse

        return parse(text)

    @staticmethod
    def from_torch(dynamic_shapes: Any, target: Any, args: Any, kwargs: Any) -> Shapes:
        """The Shapes that torch's `dynamic_shapes` of a call stand for.

        Args:
            dynamic_shapes: whatever `torch.export.export` takes: a tree of specs by name or by
                position, a ShapesCollection, AdditionalInputs, None.
            target: what is called: a module or a callable.
            args: the call's positional arguments, a tuple.
            kwargs: its keyword arguments, by name.

        Raises:
            ShapesError: they do not fit the call, or two Dims of one name have other bounds.
        """
        from export_engine.shapes.torch_specs import from_torch

        return from_torch(dynamic_shapes, target, args, kwargs)

    def to_torch(self, target: Any, args: Any, kwargs: Any) -> dict[str, Any] | None:
        """What `torch.export.export` takes as `dynamic_shapes` for a call; None: all is static.

        Whether the sizes of the call fit is for torch to say when it exports. A spec for what
        `**kwargs` takes is as torch documents it, yet torch.export itself trips over it (issue
        150022); `capture` exports it.

        Args:
            target: what is called: a module or a callable.
            args: the call's positional arguments, a tuple.
            kwargs: its keyword arguments, by name.

        Raises:
            ShapesError: a path is no tensor of the call, or its number of dims differs.
        """
        from export_engine.shapes.torch_specs import to_torch

        return to_torch(self, target, args, kwargs)

    def dims(self) -> dict[str, Bounds]:
        """Every Dim by name, with its bounds, in order of first mention."""
        return {name: self.bounds.get(name, Bounds()) for name in self._names()}

    def dim_name(self, path: str, position: int) -> str | None:
        """The name of the Dim that a dim of a leaf is, or is derived from; None for other dims."""
        specs = self.leaves.get(path, ())
        spec = specs[position] if position < len(specs) else None
        return spec.name if isinstance(spec, Named) else None

    def static(self, places: Collection[tuple[str, int]]) -> Shapes:
        """These Shapes with some dims as in the example, and with them all dims of the same Dim.

        Args:
            places: paths of leaves and positions of their dims.
        """
        names = {self.dim_name(*place) for place in places} - {None}
        leaves = {
            path: tuple(
                Static()
                if (path, position) in places or self.dim_name(path, position) in names
                else spec
                for position, spec in enumerate(specs)
            )
            for path, specs in self.leaves.items()
        }
        return Shapes(leaves, self.bounds)

    def error(self, message: str, path: str, position: int | None = None) -> ShapesError:
        """An error about a leaf or one of its dims, pointing at it where the text is known."""
        column = self.written.columns.get((path, position)) if self.written else None
        return ShapesError(message, self.written.text if self.written else "", column)

    def _names(self) -> list[str]:
        found = (each for specs in self.leaves.values() for each in specs)
        return list(dict.fromkeys(each.name for each in found if isinstance(each, Named)))

    def __str__(self) -> str:
        from export_engine.shapes.printing import write

        return write(self)

    def __repr__(self) -> str:
        return f"Shapes.parse({str(self)!r})"

    def __bool__(self) -> bool:
        return bool(self.leaves)

    def __hash__(self) -> int:
        return hash((frozenset(self.leaves.items()), frozenset(self.bounds.items())))

    def __reduce__(self) -> tuple[type[Shapes], tuple[dict[str, Any], dict[str, Any]]]:
        return Shapes, (dict(self.leaves), dict(self.bounds))


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
