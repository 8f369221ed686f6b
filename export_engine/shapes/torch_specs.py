"""Shapes ↔ torch's `dynamic_shapes` for one call."""

from __future__ import annotations

import difflib
from typing import Any

import torch
from torch.export import Dim

from export_engine.shapes.spec import (
    Auto,
    Bounds,
    Dynamic,
    Named,
    Pinned,
    Shapes,
    ShapesError,
    Spec,
    Static,
)
from export_engine.targets import signature_of
from export_engine.torch_internals import (
    call_leaves,
    derived_dim,
    dim_bounds,
    dim_hint,
    dynamic_shapes_tree,
    specs_of_leaves,
)


def to_torch(shapes: Shapes, target: Any, args: Any, kwargs: Any) -> Any:
    """The `dynamic_shapes` of a call: a tree with an entry for every input, None where static."""
    leaves = call_leaves(signature_of(target), args, kwargs)
    known = dict(leaves)
    for path in shapes.leaves:
        if path not in known:
            raise ShapesError(_no_such_input(path, known))
    dims = {name: _dim(name, shapes.bounds.get(name, (None, None))) for name in shapes.names()}
    specs = [
        _leaf_spec(path, value, shapes.leaves[path], dims) if path in shapes.leaves else None
        for path, value in leaves
    ]
    return dynamic_shapes_tree(signature_of(target), args, kwargs, specs)


def _dim(name: str, bounds: Bounds) -> Dim:
    low, high = bounds
    return Dim(name, min=low, max=high)


def _leaf_spec(path: str, value: Any, specs: tuple[Spec, ...], dims: dict[str, Dim]) -> Any:
    if isinstance(value, torch.Tensor):
        if len(specs) != value.dim():
            raise ShapesError(
                f"{path} has {value.dim()} dims, {list(value.shape)}, and the spec gives "
                f"{len(specs)}. Write one dim for each; `_` keeps one static."
            )
        return {position: _torch_dim(spec, dims) for position, spec in enumerate(specs)}
    if isinstance(value, int) and not isinstance(value, bool) and len(specs) == 1:
        return _torch_dim(specs[0], dims)
    raise ShapesError(
        f"{path} is a {type(value).__name__} and has no dims; leave it out of the spec."
    )


def _torch_dim(spec: Spec, dims: dict[str, Dim]) -> Any:
    match spec:
        case Static():
            return Dim.STATIC
        case Auto(low, high):
            return _hint(Dim.AUTO, low, high)
        case Dynamic(low, high):
            return _hint(Dim.DYNAMIC, low, high)
        case Pinned(size):
            return size
        case Named(name, scale, offset):
            dim: Any = dims[name]
            if scale != 1:
                dim = scale * dim
            if offset:
                dim = dim + offset if offset > 0 else dim - -offset
            return dim


def _hint(hint: Any, low: int | None, high: int | None) -> Any:
    return hint if low is None and high is None else hint(min=low, max=high)


def _no_such_input(path: str, known: dict[str, Any]) -> str:
    tensors = [each for each, value in known.items() if isinstance(value, torch.Tensor)]
    near = difflib.get_close_matches(path, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    inputs = ", ".join(tensors[:12]) + (", …" if len(tensors) > 12 else "")
    return f"The call has no input {path}.{hint} Its tensors are: {inputs or 'none'}."


def from_torch(dynamic_shapes: Any, target: Any, args: Any, kwargs: Any) -> Shapes:
    """The Shapes that `dynamic_shapes` stand for in a call."""
    signature = signature_of(target)
    if hasattr(dynamic_shapes, "dynamic_shapes"):  # ShapesCollection, AdditionalInputs
        dynamic_shapes = dynamic_shapes.dynamic_shapes(target, args, dict(kwargs))
    if not dynamic_shapes:
        return Shapes()
    try:
        given = specs_of_leaves(signature, args, kwargs, dynamic_shapes)
    except Exception as error:
        raise ShapesError(f"These dynamic_shapes do not fit the call: {error}") from error
    bounds: dict[str, Bounds] = {}
    leaves: dict[str, tuple[Spec, ...]] = {}
    for (path, value), spec in zip(call_leaves(signature, args, kwargs), given, strict=True):
        specs = _specs(value, spec, bounds)
        if any(not isinstance(each, Static) for each in specs):
            leaves[path] = specs
    return Shapes(leaves, bounds)


def _specs(value: Any, spec: Any, bounds: dict[str, Bounds]) -> tuple[Spec, ...]:
    if spec is None:
        return ()
    if not isinstance(value, torch.Tensor):
        return (_spec(spec, bounds),)
    per_dim = spec if isinstance(spec, dict) else dict(enumerate(spec))
    return tuple(_spec(per_dim.get(position), bounds) for position in range(value.dim()))


def _spec(dim: Any, bounds: dict[str, Bounds]) -> Spec:
    if dim is None:
        return Static()
    if isinstance(dim, int):
        return Pinned(dim)
    hint = dim_hint(dim)
    if hint is not None:
        kind, low, high = hint
        if kind == "STATIC":
            return Static()
        return Auto(low, high) if kind == "AUTO" else Dynamic(low, high)
    root, scale, offset = derived_dim(dim)
    found = dim_bounds(root)
    if found != (None, None):
        bounds[root.__name__] = found
    return Named(root.__name__, scale, offset)
