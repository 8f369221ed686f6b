"""Shapes → torch's ShapesSpec, for one call. Importing this module imports torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

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
from export_engine.shapes.expressions import COMPARISONS, Relation
from export_engine.shapes.leaves import Leaf, check_dims, check_paths, leaves_of, no_dims
from export_engine.shapes.shapes_parts import Parts
from export_engine.shapes.spec_params import params_of
from export_engine.shapes.torch_sizes import plain_name
from export_engine.sizes import ARITHMETIC, Expression, value_of
from export_engine.torch_internals import (
    container_spec,
    find_truth,
    missing_shapes_spec,
    shapes_spec,
    signature_of,
    size_functions,
    spec_variable,
    tensor_spec,
)


def to_shapes_spec(
    shapes: Parts, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """The ShapesSpec of a call.

    Raises:
        ShapesError: this torch has none, or a size cannot be said by one.
        Misfit: a path is not a leaf of the call, or its number of dims differs.
    """
    missing = missing_shapes_spec()
    if missing:
        raise ShapesError(
            f"{missing}. Dims can express part of it: leave out `--spec`, `unbacked`, "
            "assumptions, `int` and sizes in parentheses"
        )
    signature = signature_of(target)
    leaves = leaves_of(signature, args, kwargs)
    check_paths(shapes.leaves, leaves, signature)
    variables = _variables(shapes)
    entries = {leaf.path: _leaf_spec(shapes, leaf, variables) for leaf in leaves}
    params = params_of(
        signature.bind(*args, **kwargs), lambda path, _: entries[path], container_spec
    )
    assumptions = [_build_assumption(assumption, variables) for assumption in shapes.assumptions]
    return shapes_spec(params, [assumption for assumption in assumptions if assumption is not True])


def _build_assumption(relation: Relation, variables: Mapping[str, Any]) -> Any:
    """A relation of variables as torch has it; True where it always holds."""
    compare = COMPARISONS[relation.operator]
    try:
        result = compare(_value(relation.left, variables), _value(relation.right, variables))
    except ZeroDivisionError:
        result = False
    is_known = result if isinstance(result, bool) else find_truth(result)
    if is_known is False:
        raise Misfit(f"`{relation}` never holds", str(relation))
    return True if is_known else result


def _value(expression: Expression, variables: Mapping[str, Any]) -> Any:
    """An expression of variables as torch has it."""
    return value_of(expression, variables, {**ARITHMETIC, **size_functions()})


def _variables(shapes: Parts) -> dict[str, Any]:
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
                    f"no dim is named {spec.name}, and a ShapesSpec derives sizes only from a "
                    "named dim; `to_spec()` writes it with an assumption",
                    path,
                    position,
                )
    sizes = {
        name: spec_variable(name, *shapes.bounds.get(name, Bounds()), size=True)
        for name in names_of(shapes.leaves)
    }
    numbers = {
        name: spec_variable(name, int_leaf.low, int_leaf.high, size=False)
        for name, int_leaf in ints_of(shapes.leaves).items()
    }
    return {**sizes, **numbers}


def _leaf_spec(shapes: Parts, leaf: Leaf, variables: Mapping[str, Any]) -> Any:
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
        is_known = path in variables
        return (
            variables[path] if is_known else spec_variable(plain_name(path), low, high, size=False)
        )
    return _dim(specs[0], path, 0, variables)


def _dim(spec: Spec, path: str, position: int, variables: Mapping[str, Any]) -> Any:
    match spec:
        case Static():
            return None
        case Pinned(size):
            return size
        case Named(name, scale, offset):
            result = variables[name]
            result = scale * result if scale != 1 else result
            return result + offset if offset else result
        case Computed(expression):
            return _value(expression, variables)
        case Dynamic(low, high):
            return spec_variable(plain_name(f"{path}_{position}"), low, high, size=True)
        case Auto():
            raise Misfit(
                "`*` lets torch decide whether a size varies, which a ShapesSpec cannot express; "
                "write `!` or a name, or `_`",
                path,
                position,
            )
        case Int():
            raise Misfit(f"{path} is a tensor, not an int", path, position)
