"""Shapes: what is dynamic in a call, as one immutable value.

A Shapes names some leaves of the call's inputs and says, per dim, how its size may vary. Leaves it
does not name are static. Bounds belong to a Dim's name, not to a place where it stands. Nothing
here knows torch, nor the inputs of a call: whether a Shapes fits one, `to_torch` says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from export_engine.record import split_path
from export_engine.shapes.dims import Bounds, Named, Spec, Static, normal_bounds
from export_engine.shapes.errors import Misfit, ShapesError
from export_engine.shapes.language import Parsed, parse
from export_engine.shapes.printing import write


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
    _written: Parsed | None = field(init=False, compare=False, default=None)
    """The text that it was parsed from, for errors to point into."""

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
        parsed = parse(text)
        shapes = Shapes(parsed.leaves, parsed.bounds)
        object.__setattr__(shapes, "_written", parsed)
        return shapes

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

        return Shapes(*from_torch(dynamic_shapes, target, args, kwargs))

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

        try:
            return to_torch(self.leaves, self.bounds, target, args, kwargs)
        except Misfit as misfit:
            raise self._pointed(misfit) from misfit.__cause__

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

    def _pointed(self, misfit: Misfit) -> ShapesError:
        """The error, pointing at what it is about where the text is known."""
        if self._written is None:
            return ShapesError(misfit.message)
        column = self._written.columns.get((misfit.path, misfit.position))
        return ShapesError(misfit.message, self._written.text, column)

    def _names(self) -> list[str]:
        found = (each for specs in self.leaves.values() for each in specs)
        return list(dict.fromkeys(each.name for each in found if isinstance(each, Named)))

    def __str__(self) -> str:
        return write(self.leaves, self.bounds)

    def __repr__(self) -> str:
        return f"Shapes.parse({str(self)!r})"

    def __bool__(self) -> bool:
        return bool(self.leaves)

    def __hash__(self) -> int:
        return hash((frozenset(self.leaves.items()), frozenset(self.bounds.items())))

    def __reduce__(self) -> tuple[type[Shapes], tuple[dict[str, Any], dict[str, Any]]]:
        return Shapes, (dict(self.leaves), dict(self.bounds))
