"""Shapes: what is dynamic in a call, as one immutable value.

A Shapes names some leaves of the call's inputs and defines, per dim, how its size may vary. Leaves
it does not name are static. Bounds belong to a Dim's name, not to a place where it is used. Nothing
here imports torch or knows the inputs of a call: `to_torch` checks whether a Shapes fits.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from export_engine.record import split_path
from export_engine.shapes.contradictions import check_possible
from export_engine.shapes.dims import (
    Auto,
    Bounds,
    Computed,
    Dynamic,
    Int,
    Named,
    Spec,
    Static,
    ints_of,
    names_of,
    normal_bounds,
    simplest,
)
from export_engine.shapes.errors import Misfit, ShapesError
from export_engine.shapes.expressions import Relation, combine, name_size
from export_engine.shapes.language import Parsed, parse
from export_engine.shapes.printing import write
from export_engine.shapes.shapes_parts import Parts
from export_engine.shapes.to_dims import NoDim, as_dims
from export_engine.shapes.to_spec import as_spec
from export_engine.sizes import Expression


@dataclass(frozen=True, repr=False)
class Shapes:
    """The dynamic shapes of a call. `str(shapes)` is the short language; `parse` is its inverse.

    Raises:
        ShapesError: a path or a bound is not one that the language can write.
    """

    leaves: Mapping[str, tuple[Spec, ...]] = field(default_factory=dict)
    """Per leaf, by its path (`x`, `cache.0.key`), one Spec per dim; an int input has one."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """Per Dim, by name. A Dim without an entry is free; one that no leaf mentions is dropped."""
    assumptions: tuple[Relation, ...] = ()
    """Relations between sizes on every call; the program asserts them."""
    unbacked: bool = False
    """Whether the sizes are unbacked symbols (`ShapesSpec`), not Dims: nothing is specialized on
    0 and 1 and nothing silently. Implied by assumptions, int arguments and Computed sizes."""
    _written: Parsed | None = field(init=False, compare=False, default=None)
    """The text that it was parsed from, for errors to point into."""

    def __post_init__(self) -> None:
        ints = self.ints()
        leaves = {
            path: tuple(simplest(spec, ints) for spec in specs)
            for path, specs in self.leaves.items()
        }
        for path, specs in leaves.items():
            if split_path(path) is None:
                raise ShapesError(f"{path!r} is not a path; make one with join_path(parts)")
            if len(specs) != 1 and any(isinstance(spec, Int) for spec in specs):
                raise Misfit(f"{path} is an int or a tensor: write `int` alone", path)
        object.__setattr__(self, "leaves", MappingProxyType(leaves))
        bounds = {
            name: normal_bounds(name, Bounds(*self.bounds.get(name, ()))) for name in self._names()
        }
        groups = {name: bound for name, bound in bounds.items() if bound != Bounds()}
        object.__setattr__(self, "bounds", MappingProxyType(groups))
        first: dict[Hashable, Relation] = {}
        for assumption in self.assumptions:
            first.setdefault(assumption.said, assumption)
        object.__setattr__(self, "assumptions", tuple(first.values()))
        self._check_mentions()
        kinds = {type(spec) for specs in leaves.values() for spec in specs}
        object.__setattr__(self, "unbacked", bool(self.unbacked or self._says_unbacked(kinds)))

    def _check_mentions(self) -> None:
        """Raises Misfit for a name in an expression that is not a size of the call."""
        ints, names = self.ints(), self._names()
        for name in ints:
            if name in names:
                raise Misfit(f"{name} is an int argument; use a different name for the dim", name)
        for spec in (spec for specs in self.leaves.values() for spec in specs):
            if isinstance(spec, Computed):
                self._check_known(spec.expression.symbols, {*ints, *names})
        for assumption in self.assumptions:
            self._check_known(assumption.names, {*ints, *names})

    def _check_known(self, mentioned: Collection[str], known: Collection[str]) -> None:
        for name in mentioned:
            if name not in known:
                text = f"sizes with a name are: {', '.join(sorted(known))}" if known else ""
                raise Misfit(f"no dim is called {name}; {text or 'no dim has a name'}", name, -1)

    def _says_unbacked(self, kinds: Collection[type]) -> bool:
        return bool(self.assumptions or {Int, Computed} & set(kinds))

    @staticmethod
    def parse(text: str) -> Shapes:
        """The Shapes that a text in the short language stands for.

        Raises:
            ShapesError: the text does not follow the language; the error points at the column.
        """
        parsed = parse(text)
        try:
            shapes = Shapes(parsed.leaves, parsed.bounds, parsed.assumptions, parsed.unbacked)
        except Misfit as misfit:
            column = parsed.columns.get((misfit.path, misfit.position))
            raise ShapesError(misfit.message, text, column) from None
        object.__setattr__(shapes, "_written", parsed)
        return shapes

    @staticmethod
    def from_torch(dynamic_shapes: Any, target: Any, args: Any, kwargs: Any) -> Shapes:
        """The Shapes that torch's `dynamic_shapes` of a call stand for.

        Args:
            dynamic_shapes: whatever `torch.export.export` takes: a tree of specs by name or by
                position, a ShapesCollection, AdditionalInputs, a ShapesSpec or ParamsSpec, None.
            target: what is called: a module or a callable.
            args: the call's positional arguments, a tuple.
            kwargs: its keyword arguments, by name.

        Raises:
            ShapesError: they do not fit the call, or two Dims of one name have other bounds.
        """
        from export_engine.shapes.read_shapes_spec import from_shapes_spec
        from export_engine.shapes.torch_specs import from_torch
        from export_engine.torch_internals import is_shapes_spec

        if is_shapes_spec(dynamic_shapes):
            return Shapes(*from_shapes_spec(dynamic_shapes, target, args, kwargs), unbacked=True)
        return Shapes(*from_torch(dynamic_shapes, target, args, kwargs))

    def to_torch(self, target: Any, args: Any, kwargs: Any) -> Any:
        """What `torch.export.export` takes as `dynamic_shapes` for a call; None: all is static.

        A dict of Dims, or a ShapesSpec where the sizes are unbacked, which needs torch 2.14.

        torch checks the sizes of the call when it exports. Specs of `**kwargs` follow torch's
        documentation, although torch.export itself fails on them (issue 150022); `capture` exports
        it.

        Args:
            target: what is called: a module or a callable.
            args: the call's positional arguments, a tuple.
            kwargs: its keyword arguments, by name.

        Raises:
            ShapesError: a path is not a tensor of the call, its number of dims differs, no sizes
                fulfil all assumptions, or this torch has no ShapesSpec.
        """
        from export_engine.shapes.make_shapes_spec import to_shapes_spec
        from export_engine.shapes.torch_specs import to_torch

        try:
            if self.unbacked:
                check_possible(self._parts)
                return to_shapes_spec(self._parts, target, args, kwargs)
            return to_torch(self.leaves, self.bounds, target, args, kwargs)
        except Misfit as misfit:
            raise self._locate_error(misfit) from misfit.__cause__

    def check_possible(self) -> None:
        """Raises a ShapesError where no sizes fulfil all assumptions and bounds."""
        try:
            check_possible(self._parts)
        except Misfit as misfit:
            raise self._locate_error(misfit) from None

    def to_spec(self) -> Shapes:
        """The same Shapes with unbacked sizes, as a ShapesSpec says them; `*` becomes `!`.

        A multiple such as `16*_rows` becomes a size of its own with an assumption about it.
        """
        if self.unbacked:
            return self
        return Shapes(*as_spec(self.leaves, self.bounds, self.assumptions), unbacked=True)

    def to_dims(self) -> Shapes:
        """The same Shapes as Dims say them, with assumptions in the form of Dims.

        Raises:
            ShapesError: no Dim can say an assumption, or a size that is computed from others.
        """
        shapes, left_out = self._as_dims()
        if left_out:
            raise self._locate_error(left_out[0])
        return shapes

    def closest_dims(self) -> tuple[Shapes, list[str]]:
        """The same Shapes as Dims, and what no Dim can say: `["a + b <= 512"]`.

        A program exported with them asks for that only where the code does.

        Raises:
            ShapesError: an assumption never holds.
        """
        shapes, left_out = self._as_dims()
        return shapes, [no_dim.said for no_dim in left_out]

    def _as_dims(self) -> tuple[Shapes, list[NoDim]]:
        try:
            check_possible(self._parts)
            converted, left_out = as_dims(self.leaves, self.bounds, self.assumptions)
        except Misfit as misfit:
            raise self._locate_error(misfit) from None
        return Shapes(*converted), left_out

    def python(self, target: Any, args: Any, kwargs: Any) -> str:
        """The Python that makes the `dynamic_shapes` of a call, to be pasted.

        Raises:
            ShapesError: they do not fit the call.
        """
        from export_engine.shapes.python_text import python_text

        try:
            return python_text(self._parts, self.unbacked, target, args, kwargs)
        except Misfit as misfit:
            raise self._locate_error(misfit) from None

    @property
    def _parts(self) -> Parts:
        return Parts(self.leaves, self.bounds, self.assumptions)

    def dims(self) -> dict[str, Bounds]:
        """Every Dim by name, with its bounds, in order of first mention."""
        return {name: self.bounds.get(name, Bounds()) for name in self._names()}

    def dim_name(self, path: str, position: int) -> str | None:
        """The name of the Dim that a dim of a leaf is, or is derived from; None for other dims."""
        specs = self.leaves.get(path, ())
        spec = specs[position] if position < len(specs) else None
        return spec.name if isinstance(spec, Named) else None

    def loose_name(self, path: str, position: int) -> str | None:
        """The name of the Dim that an automatic dim stands for; None for other dims.

        Of several such dims, each has a symbol of its own in torch.
        """
        specs = self.leaves.get(path, ())
        spec = specs[position] if position < len(specs) else None
        return (spec.called or None) if isinstance(spec, Auto) else None

    def symbol_name(self, path: str, position: int) -> str | None:
        """The name of a dim's symbol; None if the symbol has no name.

        A dim that is derived from a Dim is a formula of the Dim's symbol. One that is derived from
        a ShapeVar has an unbacked symbol of its own, which is asserted to be equal to the formula.
        """
        own = self.unbacked and self.find_expression(path, position) is not None
        return None if own else self.dim_name(path, position)

    def find_expression(self, path: str, position: int) -> Expression | None:
        """The dim that a size is derived from; None if it is not derived."""
        specs = self.leaves.get(path, ())
        match specs[position] if position < len(specs) else None:
            case Named(name, scale, offset) if (scale, offset) != (1, 0):
                size = name_size(name)
                scaled = combine("*", scale, size) if scale != 1 else size
                return combine("+", scaled, offset) if offset else scaled
            case Computed(expression):
                return expression
        return None

    def find_least(self, places: Iterable[tuple[str, int]]) -> int:
        """The least size that was asked for of one symbol: torch's own 2 rejects no smaller one.

        Args:
            places: of its dims: paths of leaves and positions.

        Returns:
            0 of a size that was left to torch, and 2 where a dim was not to vary.
        """
        bounds = self.dims()
        for path, position in places:
            specs = self.leaves.get(path, ())
            match specs[position] if position < len(specs) else None:
                case Named(name):
                    low = bounds[name].low if name in bounds else None
                case Auto(low) | Dynamic(low):
                    pass
                case _:
                    return 2
            if low is not None:
                return low
        return 0

    def static(self, places: Collection[tuple[str, int]]) -> Shapes:
        """These Shapes with some dims as in the example, and with them all dims of the same Dim.

        Args:
            places: paths of leaves and positions of their dims.
        """
        gone = {name for place in places if (name := self.size_name(*place))}

        def is_static(path: str, position: int, spec: Spec) -> bool:
            return (
                (path, position) in places
                or self.size_name(path, position) in gone
                or (isinstance(spec, Computed) and not gone.isdisjoint(spec.expression.symbols))
            )

        leaves = {
            path: tuple(
                Static() if is_static(path, position, spec) else spec
                for position, spec in enumerate(specs)
            )
            for path, specs in self.leaves.items()
        }
        kept = tuple(
            assumption for assumption in self.assumptions if gone.isdisjoint(assumption.names)
        )
        return Shapes(leaves, self.bounds, kept, self.unbacked)

    def size_name(self, path: str, position: int) -> str | None:
        """The name by which relations know a dim of a leaf or an int; None for other dims."""
        return path if path in self.ints() else self.dim_name(path, position)

    def ints(self) -> dict[str, Int]:
        """The int arguments that expressions can name, by that name: their path."""
        return ints_of(self.leaves)

    def _locate_error(self, misfit: Misfit) -> ShapesError:
        """The error, pointing at what it is about where the text is known."""
        if self._written is None:
            return ShapesError(misfit.message)
        column = self._written.columns.get((misfit.path, misfit.position))
        return ShapesError(misfit.message, self._written.text, column)

    def _names(self) -> list[str]:
        return names_of(self.leaves)

    def __str__(self) -> str:
        kinds = {type(spec) for specs in self.leaves.values() for spec in specs}
        is_said = self.unbacked and not self._says_unbacked(kinds)
        return write(self.leaves, self.bounds, self.assumptions, is_said)

    def __repr__(self) -> str:
        return f"Shapes.parse({str(self)!r})"

    def __bool__(self) -> bool:
        return bool(self.leaves)

    def __hash__(self) -> int:
        parts = frozenset(self.leaves.items()), frozenset(self.bounds.items())
        return hash((*parts, self.assumptions, self.unbacked))

    def __reduce__(self) -> tuple[type[Shapes], tuple[Any, ...]]:
        leaves, bounds = dict(self.leaves), dict(self.bounds)
        return Shapes, (leaves, bounds, self.assumptions, self.unbacked)
