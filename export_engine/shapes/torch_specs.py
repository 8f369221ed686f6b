"""Leaves and bounds ↔ torch's `dynamic_shapes` for one call.

Importing this module imports torch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch.export import AdditionalInputs, Dim, ShapesCollection

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
)
from export_engine.shapes.errors import Misfit, ShapesError
from export_engine.shapes.leaves import Leaf, check_dims, check_paths, count, leaves_of, no_dims
from export_engine.shapes.printing import write_bounds, write_dim
from export_engine.torch_internals import (
    dim_bounds,
    dim_hint,
    dynamic_shapes_tree,
    keywords_apart,
    signature_of,
    specs_of_leaves,
    split_dim,
)

Specs = Mapping[str, tuple[Spec, ...]]
"""Per leaf, by its path, one Spec per dim."""
MISFITS = (ValueError, TypeError, RuntimeError, AssertionError, LookupError)
"""torch's errors on `dynamic_shapes` whose structure differs from the inputs'."""


def to_torch(
    specs: Specs,
    bounds: Mapping[str, Bounds],
    target: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> dict[str, Any] | None:
    """The `dynamic_shapes` of a call: an entry for every input, None if it is static.

    Raises:
        Misfit: a path is not a tensor of the call, or its number of dims differs.
    """
    if not specs:
        return None
    signature = signature_of(target)
    leaves = leaves_of(signature, args, kwargs)
    check_paths(specs, leaves, signature)
    dims = _torch_dims(specs, bounds)
    items = [
        _leaf_spec(leaf, specs[leaf.path], bounds, dims) if leaf.path in specs else None
        for leaf in leaves
    ]
    return dynamic_shapes_tree(signature, args, kwargs, items)


def _torch_dims(given: Specs, bounds: Mapping[str, Bounds]) -> dict[str, Dim]:
    """One Dim for each name. `seq - 2` says that seq is 2 or more, which torch must be told."""
    least: dict[str, int] = {}
    for path, specs in given.items():
        for position, spec in enumerate(specs):
            if isinstance(spec, Named):
                needed = -(spec.offset // spec.scale)
                high = bounds.get(spec.name, Bounds()).high
                if high is not None and high <= needed:
                    raise Misfit(
                        f"{write_dim(spec, {})} has fewer than two sizes while {spec.name} is at "
                        f"most {high}; raise the bound or change the number",
                        path,
                        position,
                    )
                least[spec.name] = max(needed, least.get(spec.name, 0))
    groups = {name: bounds.get(name, Bounds()) for name in least}
    return {
        name: Dim(name, min=max(low or 0, least[name]) or None, max=high)
        for name, (low, high) in groups.items()
    }


def _leaf_spec(
    leaf: Leaf, specs: tuple[Spec, ...], bounds: Mapping[str, Bounds], dims: dict[str, Dim]
) -> Any:
    path, value = leaf
    if isinstance(value, torch.Tensor):
        check_dims(leaf, specs, bounds)
        return {position: _torch_dim(spec, dims) for position, spec in enumerate(specs)}
    if isinstance(value, int) and not isinstance(value, bool):
        return _int_spec(path, specs)
    raise no_dims(leaf)


def _int_spec(path: str, specs: tuple[Spec, ...]) -> Any:
    if len(specs) != 1 or isinstance(specs[0], Named | Pinned):
        raise Misfit(
            f"{path} is an int: write `{path}: !` (dynamic) or `{path}: *` (automatic), "
            "or leave it out of the spec to keep its value",
            path,
            0 if specs else None,
        )
    return None if isinstance(specs[0], Static) else _torch_dim(specs[0], {})


def _torch_dim(spec: Spec, dims: dict[str, Dim]) -> Any:
    match spec:
        case Static() | Computed() | Int():  # the last two are never among Dims
            return Dim.STATIC
        case Auto(low, high):
            return _hint(Dim.AUTO, low, high)
        case Dynamic(low, high):
            return _hint(Dim.DYNAMIC, low, high)
        case Pinned(size):
            return size
        case Named(name, scale, offset):
            dim = dims[name]
            if scale != 1:
                dim = scale * dim
            if offset:
                dim = dim + offset if offset > 0 else dim - -offset
            return dim


def _hint(hint: Any, low: int | None, high: int | None) -> Any:
    return hint if low is None and high is None else hint(min=low, max=high)


def from_torch(
    dynamic_shapes: Any, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Specs, dict[str, Bounds]]:
    """The specs in `dynamic_shapes` of a call, and the bounds of their Dims.

    Wholly static leaves are left out.

    Raises:
        ShapesError: they do not fit the call, or two Dims of one name have other bounds.
    """
    leaves = leaves_of(signature_of(target), args, kwargs)
    try:
        items = specs_in_order(dynamic_shapes, target, args, kwargs)
    except MISFITS as error:
        raise ShapesError(
            f"these dynamic_shapes do not fit the call: {_rephrase(error)}"
        ) from error
    if items is None:
        return {}, {}
    bounds: dict[str, Bounds] = {}
    read = {
        leaf.path: _read_leaf(leaf, spec, bounds) for leaf, spec in zip(leaves, items, strict=True)
    }
    varying = {path: specs for path, specs in read.items() if set(specs) - {Static()}}
    return varying, bounds


def _rephrase(error: Exception) -> str:
    """torch's first line, with classes by their names."""
    text = str(error).strip().split("\n", 1)[0]
    text = re.sub(r"<function namedtuple at 0x[0-9a-f]+>", "NamedTuple", text)
    text = re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", text)
    if re.match(r"zip\(\) argument \d+ is (longer|shorter)", text):
        return "there are more or fewer entries than inputs; each needs one, None if it is static"
    mismatch = re.fullmatch(r"Node type mismatch; expected (\w+), but got (\w+)\.", text)
    if mismatch:
        return f"an input requires a {mismatch[1]} of specs, but has a {mismatch[2]}"
    return text.removeprefix(
        "Detected mismatch between the structure of `inputs` and `dynamic_shapes`: "
    )


def specs_in_order(
    dynamic_shapes: Any, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Any] | None:
    """The spec of each leaf, in order; None where all is static. Raises whatever torch does."""
    if isinstance(dynamic_shapes, ShapesCollection | AdditionalInputs):
        builder: Any = dynamic_shapes
        dynamic_shapes = builder.dynamic_shapes(target, args, dict(kwargs))
    if not dynamic_shapes:
        return None
    signature = signature_of(target)
    inputs = keywords_apart(signature, signature.bind(*args, **kwargs).arguments)
    value = specs_by_input(dynamic_shapes, target, args, kwargs)
    if isinstance(value, tuple | list):
        value = dict(zip(inputs, value, strict=True))
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a dict, a tuple or a list, got {value!r}")
    if value.keys() != inputs.keys():
        raise ValueError(
            f"they are for {', '.join(map(str, value))}; the call's inputs are "
            f"{', '.join(inputs)}, and each needs an entry, None if it is static"
        )
    return specs_of_leaves(signature, args, kwargs, value)


def specs_by_input(
    dynamic_shapes: Any, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """`dynamic_shapes` by name, each keyword of `**kwargs` an input of its own.

    torch sees the inputs like this while `recording`. Specs of a call that fills no `**kwargs`,
    and what is neither by name nor by position, stay as they are.
    """
    signature = signature_of(target)
    arguments = signature.bind(*args, **kwargs).arguments
    if keywords_apart(signature, arguments).keys() == arguments.keys():
        return dynamic_shapes
    if isinstance(dynamic_shapes, tuple | list):
        dynamic_shapes = dict(zip(arguments, dynamic_shapes, strict=False))
    if not isinstance(dynamic_shapes, Mapping):
        return dynamic_shapes
    return keywords_apart(signature, dynamic_shapes)


def _read_leaf(leaf: Leaf, given: Any, bounds: dict[str, Bounds]) -> tuple[Spec, ...]:
    path, value = leaf
    if given is None:
        return ()
    if not isinstance(value, torch.Tensor):
        if not isinstance(value, int) or dim_hint(given) is None:
            raise ShapesError(
                f"{path} is a {type(value).__name__}, whose spec cannot be {given!r}: use "
                "Dim.AUTO, Dim.DYNAMIC or Dim.STATIC for a number, and None for anything else"
            )
        return (_read_dim(path, given, bounds),)
    if isinstance(given, tuple | list) and len(given) == value.dim():
        return tuple(_read_dim(f"{path} dim {i}", dim, bounds) for i, dim in enumerate(given))
    if isinstance(given, Mapping) and all(_is_position(key, value.dim()) for key in given):
        by_position = {key % value.dim(): dim for key, dim in given.items()}
        return tuple(
            _read_dim(f"{path} dim {i}", by_position.get(i), bounds) for i in range(value.dim())
        )
    raise ShapesError(
        f"{path} has {count(value.dim())}, {list(value.shape)}, and its spec is {given!r}; use "
        "a tuple with one entry for each, or a dict by position"
    )


def _is_position(key: object, dims: int) -> bool:
    return isinstance(key, int) and -dims <= key < dims


def _read_dim(where: str, dim: Any, bounds: dict[str, Bounds]) -> Spec:
    if dim is None:
        return Static()
    if isinstance(dim, int) and not isinstance(dim, bool):
        return Pinned(dim)
    hint = dim_hint(dim)
    if hint is not None:
        kind, low, high = hint
        if kind == "STATIC":
            return Static()
        return Auto(low, high) if kind == "AUTO" else Dynamic(low, high)
    if not isinstance(dim, Dim):
        raise ShapesError(
            f"{where} is {dim!r}; a dim is a Dim, Dim.AUTO, Dim.DYNAMIC, Dim.STATIC, an int or None"
        )
    root, scale, offset = split_dim(dim)
    result = Bounds(*dim_bounds(root))
    known = bounds.setdefault(root.__name__, result)
    if known != result:
        texts = " and ".join(write_bounds(bounds) or "none" for bounds in (known, result))
        raise ShapesError(f"Two Dims named {root.__name__} have different bounds: {texts}")
    return Named(root.__name__, scale, offset)
