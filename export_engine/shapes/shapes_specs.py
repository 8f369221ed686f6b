"""Shapes ↔ torch's ShapesSpec for one call.

Importing this module imports torch.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch

from export_engine.attempt import signature_of
from export_engine.record import join_path
from export_engine.shapes.dims import (
    Auto,
    Bounds,
    Computed,
    Dynamic,
    Int,
    Named,
    Pinned,
    Spec,
    Static,
    ints_of,
    names_of,
)
from export_engine.shapes.errors import Misfit, ShapesError
from export_engine.shapes.expressions import (
    ARITHMETIC,
    COMPARISONS,
    Expression,
    Operation,
    Relation,
    Size,
    value_of,
)
from export_engine.shapes.leaves import Leaf, check_dims, check_paths, leaves_of, no_dims
from export_engine.torch_internals import (
    Variable,
    assumed,
    container_of,
    container_spec,
    known_truth,
    leaf_specs,
    missing_shapes_spec,
    shapes_spec,
    size_functions,
    spec_variable,
    taken_apart,
    tensor_spec,
)


class Said(NamedTuple):
    """The parts of a Shapes."""

    leaves: Mapping[str, tuple[Spec, ...]]
    bounds: Mapping[str, Bounds]
    assumptions: tuple[Relation, ...]


def to_shapes_spec(
    shapes: Said, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """The ShapesSpec of a call.

    Raises:
        ShapesError: this torch has none, or a size cannot be said by one.
        Misfit: a path is not a leaf of the call, or its number of dims differs.
    """
    missing = missing_shapes_spec()
    if missing:
        raise ShapesError(
            f"{missing}. Dims can say part of it: leave out `--spec`, `unbacked`, assumptions, "
            "`int` and sizes in parentheses"
        )
    signature = signature_of(target)
    leaves = leaves_of(signature, args, kwargs)
    check_paths(shapes.leaves, leaves, signature)
    variables = _variables(shapes)
    given = {leaf.path: _leaf_spec(shapes, leaf, variables) for leaf in leaves}
    params = params_of(signature.bind(*args, **kwargs), lambda path, _: given[path], container_spec)
    assumptions = [_assumed(each, variables) for each in shapes.assumptions]
    return shapes_spec(params, [each for each in assumptions if each is not True])


def _assumed(relation: Relation, variables: Mapping[str, Any]) -> Any:
    """A relation of variables as torch has it; True where it always holds."""
    compare = COMPARISONS[relation.operator]
    try:
        found = compare(_value(relation.left, variables), _value(relation.right, variables))
    except ZeroDivisionError:
        found = False
    known = found if isinstance(found, bool) else known_truth(found)
    if known is False:
        raise Misfit(f"`{relation}` never holds", str(relation))
    return True if known else found


def _value(expression: Expression, variables: Mapping[str, Any]) -> Any:
    """An expression of variables as torch has it."""
    return value_of(expression, variables, {**ARITHMETIC, **size_functions()})


def _variables(shapes: Said) -> dict[str, Any]:
    bare = {
        spec.name
        for specs in shapes.leaves.values()
        for spec in specs
        if isinstance(spec, Named) and not spec.derived
    }
    for path, specs in shapes.leaves.items():
        for position, spec in enumerate(specs):
            if isinstance(spec, Named) and spec.name not in bare:
                raise Misfit(
                    f"no dim is {spec.name} itself, and a ShapesSpec derives sizes only "
                    "from a dim that is; `to_spec()` writes it with an assumption",
                    path,
                    position,
                )
    sizes = {
        name: spec_variable(name, *shapes.bounds.get(name, Bounds()), size=True)
        for name in names_of(shapes.leaves)
    }
    numbers = {
        name: spec_variable(name, each.low, each.high, size=False)
        for name, each in ints_of(shapes.leaves).items()
    }
    return {**sizes, **numbers}


def _leaf_spec(shapes: Said, leaf: Leaf, variables: Mapping[str, Any]) -> Any:
    path, value = leaf
    specs = shapes.leaves.get(path)
    if specs is None:
        return None
    if isinstance(value, torch.Tensor):
        check_dims(leaf, specs, shapes.bounds)
        return tensor_spec(
            [_dim(spec, path, position, variables) for position, spec in enumerate(specs)]
        )
    if not isinstance(value, int) or isinstance(value, bool):
        raise no_dims(leaf)
    if len(specs) != 1:
        raise Misfit(f"{path} is an int: write `{path}: int`", path)
    if isinstance(specs[0], Int | Dynamic):
        low, high = specs[0].low, specs[0].high
        known = path in variables
        return variables[path] if known else spec_variable(plain_name(path), low, high, size=False)
    return _dim(specs[0], path, 0, variables)


def _dim(spec: Spec, path: str, position: int, variables: Mapping[str, Any]) -> Any:
    match spec:
        case Static():
            return None
        case Pinned(size):
            return size
        case Named(name, scale, offset):
            found = variables[name]
            found = scale * found if scale != 1 else found
            return found + offset if offset else found
        case Computed(expression):
            return _value(expression, variables)
        case Dynamic(low, high):
            return spec_variable(plain_name(f"{path}_{position}"), low, high, size=True)
        case Auto():
            raise Misfit(
                "`*` lets torch decide whether a size varies, which a ShapesSpec cannot say; write "
                "`!` or a name, or `_`",
                path,
                position,
            )
        case Int():
            raise Misfit(f"{path} is a tensor, not an int", path, position)


def params_of(
    bound: inspect.BoundArguments,
    leaf: Callable[[str, Any], Any],
    container: Callable[[str, dict[Any, Any]], Any],
) -> dict[str, Any]:
    """The arguments of a ParamsSpec, by parameter; parts without a spec are left out.

    Args:
        bound: a call.
        leaf: the spec of a leaf by its path and value; None for a static one.
        container: the spec of a container from its kind and its parts' specs.

    Raises:
        Misfit: a spec is for a part that a ShapesSpec cannot address.
    """
    walk = _Walk(leaf, container)
    params: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            found = [walk.spec(each, (name, str(i))) for i, each in enumerate(value)]
            params |= {"*args": found} if any(each is not None for each in found) else {}
        elif kind is inspect.Parameter.VAR_KEYWORD:
            named = {key: walk.spec(each, (key,)) for key, each in value.items()}
            said = {key: each for key, each in named.items() if each is not None}
            params |= {"**kwargs": said} if said else {}
        else:
            spec = walk.spec(value, (name,))
            params |= {name: spec} if spec is not None else {}
    return params


class _Walk:
    def __init__(
        self,
        leaf: Callable[[str, Any], Any],
        container: Callable[[str, dict[Any, Any]], Any],
    ) -> None:
        self._leaf, self._container = leaf, container

    def spec(self, value: Any, steps: tuple[str, ...]) -> Any:
        """The spec of a value; None where all in it is static."""
        found = container_of(value)
        if found is None:
            return self._leaf(join_path(steps), value)
        parts = {key: self.spec(part, (*steps, str(key))) for key, part in found.parts}
        if all(part is None for part in parts.values()):
            return None
        strange = found.kind == "dict" and any(not isinstance(key, str | int) for key in parts)
        if found.kind == "keys" or strange:
            path = join_path(steps)
            raise Misfit(
                f"a ShapesSpec does not reach into {path}, a {type(value).__name__}: it "
                "addresses parts by index, by str or int key, and by attribute. Use Dims instead",
                path,
            )
        if found.kind != "list":
            parts = {key: part for key, part in parts.items() if part is not None}
        return self._container(found.kind, parts)


def from_shapes_spec(
    spec: Any, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Said:
    """The parts of a ShapesSpec or ParamsSpec for a call. Optimization hints are not kept.

    Raises:
        ShapesError: it does not fit the call, or cannot be written in the language.
    """
    try:
        found = leaf_specs(spec, target, args, kwargs)
    except (ValueError, TypeError, AssertionError, LookupError) as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise ShapesError(f"these dynamic_shapes do not fit the call: {reason}") from error
    leaves = {leaf.path: leaf for leaf in leaves_of(signature_of(target), args, kwargs)}
    by_path = {join_path(steps): each for steps, each in found.items()}
    for path, each in by_path.items():
        if isinstance(each, list):
            check_dims(leaves[path], each, {})
    reading = _Reading(by_path)
    read = {path: reading.leaf(path, each) for path, each in by_path.items()}
    varying = {path: specs for path, specs in read.items() if set(specs) - {Static()}}
    relations = [each for given in assumed(spec) for each in relations_of(given, reading.sizes)]
    return Said(varying, reading.bounds, tuple(relations))


class _Reading:
    """Reads leaves one after the other; the names of variables are the same in all of them."""

    def __init__(self, by_path: Mapping[str, Any]) -> None:
        self.bounds: dict[str, Bounds] = {}
        self._names: dict[Any, str] = {}
        self._int_paths: set[str] = set()
        variables = list(_bare(by_path))
        of_tensors = {each.symbol for _, each, tensor in variables if tensor}
        for path, each, tensor in variables:
            alone = not tensor and each.symbol not in of_tensors and path.isidentifier()
            if alone and each.symbol not in self._names and path not in self._names.values():
                self._names[each.symbol] = path
                self._int_paths.add(path)
        for path, each, _ in variables:
            if each.symbol in self._names:
                continue
            name = self._fresh(plain_name(each.name if each.name != "anon" else f"{path}_size"))
            self._names[each.symbol] = name
            low = 0 if each.low is None and each.size else each.low
            if low is None or low < 0:
                raise ShapesError(
                    f"{path}: the IntVar {each.name} may be below 0, but a size is not; give it "
                    "min=0, or an argument of its own"
                )
            self.bounds[name] = Bounds(low, each.high)

    @property
    def sizes(self) -> dict[Any, Expression]:
        """The name of each variable's symbol."""
        return {symbol: Size(name) for symbol, name in self._names.items()}

    def leaf(self, path: str, given: Any) -> tuple[Spec, ...]:
        if isinstance(given, list):
            return tuple(self._spec(each) for each in given)
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
            return Computed(Size(name)) if name in self._int_paths else Named(name)
        return Computed(expression_of_sizes(given, self.sizes))

    def _fresh(self, name: str) -> str:
        taken, number = {*self._names.values()}, 2
        found = name
        while found in taken:
            found, number = f"{name}_{number}", number + 1
        return found


def relations_of(given: Any, names: Mapping[Any, Expression]) -> Iterator[Relation]:
    """A sympy boolean as relations, all of which hold.

    Args:
        given: a comparison, or several joined by `and`.
        names: what to call each of its symbols.

    Raises:
        ShapesError: it is something else, or has a symbol without a name.
    """
    sign, parts = taken_apart(given)
    if sign == "and":
        for part in parts:
            yield from relations_of(part, names)
    elif sign in COMPARISONS:
        yield Relation(sign, *(expression_of_sizes(part, names) for part in parts))
    elif str(given) != "True":
        raise ShapesError(f"the assumption {given} is not a comparison of sizes")


def expression_of_sizes(given: Any, names: Mapping[Any, Expression]) -> Expression:
    """A sympy expression as one of named sizes.

    Raises:
        ShapesError: it has an operator that the language lacks, or a symbol without a name.
    """
    sign, parts = taken_apart(given)
    if sign == "number":
        return int(parts[0])
    if sign == "symbol":
        known = names.get(parts[0])
        if known is None:
            said = str(parts[0]).partition("#")[0]
            raise ShapesError(
                f"no dim or int is {said} itself, so torch cannot know it; give it one"
            )
        return known
    if sign not in ARITHMETIC:
        raise ShapesError(f"the size {given} cannot be written with {' '.join(ARITHMETIC)}")
    first, *others = [expression_of_sizes(part, names) for part in parts]
    for each in others:
        first = _joined(sign, first, each)
    return first


def _joined(sign: str, left: Expression, right: Expression) -> Expression:
    """Two parts of a sum or product, as one would write them: `b - a`, `2*a`."""
    if sign == "+" and isinstance(left, int):
        left, right = right, left
    if sign == "+" and isinstance(right, int) and right < 0:
        return Operation("-", left, -right)
    if sign == "+" and isinstance(right, Operation) and (right.operator, right.left) == ("*", -1):
        return Operation("-", left, right.right)
    return Operation(sign, left, right)


def _bare(by_path: Mapping[str, Any]) -> Iterator[tuple[str, Variable, bool]]:
    """Each variable that is a dim or an int by itself, where, and whether in a tensor."""
    for path, given in by_path.items():
        for each in given if isinstance(given, list) else (given,):
            if isinstance(each, Variable):
                yield path, each, isinstance(given, list)


def plain_name(name: str) -> str:
    """A text as a name that the language takes."""
    found = re.sub(r"\W", "_", name)
    if not found.isidentifier():
        found = f"_{found}"
    try:
        Size(found)
    except ShapesError:
        found = f"{found}_"
    return found
