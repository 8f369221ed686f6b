"""torch's ShapesSpec → Shapes, for one call. Importing this module imports torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from export_engine.record import join_path
from export_engine.shapes.dims import Bounds, Computed, Int, Named, Pinned, Spec, Static
from export_engine.shapes.errors import ShapesError
from export_engine.shapes.expressions import name_size
from export_engine.shapes.leaves import check_dims, leaves_of
from export_engine.shapes.shapes_parts import Parts
from export_engine.shapes.torch_sizes import expression_of_sizes, plain_name, read_relations
from export_engine.sizes import Expression
from export_engine.torch_internals import (
    Variable,
    leaf_specs,
    list_assumptions,
    read_sympy,
    signature_of,
)


def from_shapes_spec(
    spec: Any, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Parts:
    """The parts of a ShapesSpec or ParamsSpec for a call. Optimization hints are not kept.

    Raises:
        ShapesError: it does not fit the call, or cannot be written in the language.
    """
    try:
        entries = leaf_specs(spec, target, args, kwargs)
    except (ValueError, TypeError, AssertionError, LookupError) as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise ShapesError(f"these dynamic_shapes do not fit the call: {reason}") from error
    leaves = {leaf.path: leaf for leaf in leaves_of(signature_of(target), args, kwargs)}
    by_path = {join_path(steps): item for steps, item in entries.items()}
    for path, value in by_path.items():
        if isinstance(value, list):
            check_dims(leaves[path], value, {})
    reading = _Reading(by_path)
    read = {path: reading.leaf(path, item) for path, item in by_path.items()}
    varying = {path: specs for path, specs in read.items() if set(specs) - {Static()}}
    relations = [
        relation
        for item in list_assumptions(spec)
        for relation in read_relations(read_sympy(item), reading.sizes)
    ]
    return Parts(varying, reading.bounds, tuple(relations))


class _Reading:
    """Reads leaves one after the other; the names of variables are the same in all of them."""

    def __init__(self, by_path: Mapping[str, Any]) -> None:
        self.bounds: dict[str, Bounds] = {}
        self._names: dict[Any, str] = {}
        self._int_paths: set[str] = set()
        variables = list(_bare(by_path))
        of_tensors = {item.symbol for _, item, tensor in variables if tensor}
        for path, variable, tensor in variables:
            alone = not tensor and variable.symbol not in of_tensors and path.isidentifier()
            if alone and variable.symbol not in self._names and path not in self._names.values():
                self._names[variable.symbol] = path
                self._int_paths.add(path)
        for path, derived, _ in variables:
            if derived.symbol in self._names:
                continue
            name = self._fresh(
                plain_name(derived.name if derived.name != "anon" else f"{path}_size")
            )
            self._names[derived.symbol] = name
            low = 0 if derived.low is None and derived.size else derived.low
            if low is None or low < 0:
                raise ShapesError(
                    f"{path}: the IntVar {derived.name} may be below 0, but a size is "
                    "not; use min=0, or a separate argument"
                )
            self.bounds[name] = Bounds(low, derived.high)

    @property
    def sizes(self) -> dict[str, Expression]:
        """The size of each variable, by torch's name of its symbol."""
        return {str(symbol): name_size(name) for symbol, name in self._names.items()}

    def leaf(self, path: str, given: Any) -> tuple[Spec, ...]:
        if isinstance(given, list):
            return tuple(self._spec(value) for value in given)
        if isinstance(given, Variable) and self._names[given.symbol] == path in self._int_paths:
            return (Int(given.low, given.high),)
        return (self._spec(given),)

    def _spec(self, given: Any) -> Spec:
        if given is None:
            return Static()
        if isinstance(given, int):
            return Pinned(given)
        if isinstance(given, Variable):
            name = self._names[given.symbol]
            return Computed(name_size(name)) if name in self._int_paths else Named(name)
        return Computed(expression_of_sizes(read_sympy(given), self.sizes))

    def _fresh(self, name: str) -> str:
        taken, number = {*self._names.values()}, 2
        text = name
        while text in taken:
            text, number = f"{name}_{number}", number + 1
        return text


def _bare(by_path: Mapping[str, Any]) -> Iterator[tuple[str, Variable, bool]]:
    """Each variable that is a dim or an int by itself, where, and whether in a tensor."""
    for path, value in by_path.items():
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, Variable):
                yield path, item, isinstance(value, list)
