"""Reads `dynamic_shapes` that do not fit their call: the likely input of each entry."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import torch
from torch.export import Dim

from export_engine.record import join_path, split_path
from export_engine.shapes.leaves import Leaf, leaves_of
from export_engine.shapes.spec import Shapes
from export_engine.torch_internals import (
    dim_bounds,
    dim_hint,
    dynamic_shapes_tree,
    field_names,
    keywords_apart,
    split_dim,
)


class Misfit(NamedTuple):
    """A call, and `dynamic_shapes` that do not fit it."""

    dynamic_shapes: Any
    target: Any
    signature: inspect.Signature
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def list_leaves(self) -> list[Leaf]:
        """The values of the inputs, with their paths."""
        return leaves_of(self.signature, self.args, self.kwargs)


def fit_shapes(asked: Misfit) -> tuple[Shapes, list[str]]:
    """The shapes that misfitting `dynamic_shapes` most likely mean.

    Returns:
        The shapes, and the entries that belong to no input.

    Raises:
        ShapesError: an entry is one that no input can have.
    """
    leaves, entries = asked.list_leaves(), _entries_of(asked)

    def list_left() -> list[Leaf]:
        return [leaf for leaf in _tensors(leaves) if leaf.path not in meant]

    own = [leaf for leaf in leaves if _keys(leaf) in entries]
    meant: dict[str, Any] = {leaf.path: entries.pop(_keys(leaf)) for leaf in own}
    meant |= _in_order(entries, list_left())
    unknown: dict[tuple[str, ...], Any] = {}
    for keys, spec in entries.items():
        if all(dim is None for _, dim in _axes_of(spec)):
            continue
        paths = _of_all_below(keys, spec, list_left()) or _nearest(keys, list_left())
        meant |= dict.fromkeys(paths, spec)
        if not paths:
            unknown[keys] = spec
    ordered = _by_position(unknown, list_left(), is_alone=not meant)
    meant |= ordered
    dropped = [] if ordered else [f"`{join_path(keys)}`" for keys in unknown]
    specs = []
    for path, value in leaves:
        spec, lost = _for_value(meant.get(path), value)
        specs.append(spec)
        dropped += [f"`{path}` dim {position}" for position in lost]
    specs = _within_all_bounds(specs)
    tree = dynamic_shapes_tree(asked.signature, asked.args, asked.kwargs, specs)
    return Shapes.from_torch(tree, asked.target, asked.args, asked.kwargs), dropped


def only_names_dims(asked: Misfit) -> bool:
    """Whether `dynamic_shapes` are as the call is, but for text where a Dim should be."""
    shapes = asked.dynamic_shapes
    own = dict(_entries(shapes)) if isinstance(shapes, Mapping) else _entries_of(asked)
    entries = {keys: spec for keys, spec in own.items() if spec is not None}
    names = [d for spec in entries.values() for _, d in _axes_of(spec) if isinstance(d, str)]
    return bool(names) and entries.keys() <= set(map(_keys, asked.list_leaves()))


def format_entries(dynamic_shapes: Any) -> str:
    """The specs of tensors as they were given, a line for each."""
    lines = (f"{join_path(keys)}: {_text_of(spec)}" for keys, spec in _entries(dynamic_shapes))
    return "\n".join(lines)


def _tensors(leaves: list[Leaf]) -> list[Leaf]:
    return [leaf for leaf in leaves if isinstance(leaf.value, torch.Tensor)]


def _keys(leaf: Leaf) -> tuple[str, ...]:
    return tuple(split_path(leaf.path) or ())


def _entries_of(asked: Misfit) -> dict[tuple[str, ...], Any]:
    """The given specs by the keys to their inputs, keywords of `**kwargs` apart."""
    shapes, signature = asked.dynamic_shapes, asked.signature
    if isinstance(shapes, tuple | list):
        bound = signature.bind(*asked.args, **asked.kwargs).arguments
        names, tensors = list(keywords_apart(signature, bound)), _tensors(asked.list_leaves())
        flat = len(shapes) != len(names) and len(shapes) == len(tensors)
        if flat and all(map(_is_leaf_spec, shapes)):
            return dict(zip(map(_keys, tensors), shapes, strict=True))
        shapes = dict(zip(names, shapes, strict=False))
    elif isinstance(shapes, Mapping) and all(isinstance(key, str) for key in shapes):
        with suppress(TypeError, ValueError, AttributeError):
            shapes = keywords_apart(signature, shapes)
    return {_name_keys(keys, asked): spec for keys, spec in _entries(shapes)}


def _name_keys(keys: tuple[str, ...], asked: Misfit) -> tuple[str, ...]:
    """Keys with positions in a NamedTuple or a dataclass as the names of its fields."""
    arguments = asked.signature.bind(*asked.args, **asked.kwargs).arguments
    value: Any = dict(arguments)
    names: list[str] = []
    for key in keys:
        fields = _fields_of(value)
        is_known = bool(fields) and key.isdecimal() and int(key) < len(fields)
        name = fields[int(key)] if is_known else key
        names.append(name)
        if isinstance(value, torch.Tensor):  # a tensor would be indexed, with a warning
            value = None
        try:
            at = int(name) if isinstance(value, list | tuple) and name not in fields else name
            value = getattr(value, name) if name in fields else value[at]
        except (TypeError, KeyError, IndexError, ValueError):
            value = None
    return tuple(names)


def _entries(given: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The specs of tensors in a tree of specs, with the keys to them."""
    if _is_leaf_spec(given) or not isinstance(given, Mapping | tuple | list):
        yield keys, given
        return
    items = given.items() if isinstance(given, Mapping) else enumerate(given)
    for key, value in items:
        yield from _entries(value, (*keys, str(key)))


def _is_leaf_spec(given: Any) -> bool:
    """Whether this is the spec of one tensor: dims by position, or one after the other."""
    if isinstance(given, Mapping):
        return bool(given) and all(isinstance(key, int) for key in given)
    return given is None or (
        isinstance(given, tuple | list) and bool(given) and all(map(_is_dim, given))
    )


def _in_order(entries: dict[tuple[str, ...], Any], left: list[Leaf]) -> dict[str, Any]:
    """What is meant by as many entries below an input as it has tensors, however they are nested.

    They are taken out of the entries.
    """
    result: dict[str, Any] = {}
    for name in dict.fromkeys(keys[0] for keys in entries if len(keys) > 1):
        below = [keys for keys in entries if keys[0] == name]
        tensors = [leaf for leaf in left if _keys(leaf)[:1] == (name,)]
        pairs = list(zip(below, tensors, strict=False))
        alike = len(below) == len(tensors) > 1
        if alike and all(_fits(entries[keys], leaf.value) for keys, leaf in pairs):
            result |= {leaf.path: entries.pop(keys) for keys, leaf in pairs}
    return result


def _of_all_below(keys: tuple[str, ...], spec: Any, left: list[Leaf]) -> list[str]:
    """The tensors of a container that one spec of a tensor is given for, if it fits each.

    A name is one size everywhere, so it fits only where the sizes are equal.
    """
    below = [leaf for leaf in left if _keys(leaf)[: len(keys)] == keys]
    if len(below) < 2 or not all(_fits(spec, leaf.value) for leaf in below):
        return []
    named = [axis for axis, dim in _axes_of(spec) if isinstance(dim, str | Dim)]
    sizes = {tuple(leaf.value.shape[axis] for axis in named) for leaf in below}
    return [leaf.path for leaf in below] if len(sizes) == 1 else []


def _by_position(
    unknown: dict[tuple[str, ...], Any], left: list[Leaf], *, is_alone: bool
) -> dict[str, Any]:
    """Assign entries under unknown names to the remaining tensors in order, if their numbers match.

    Where others have their input, several each begin with its name: `past_key_values_0_key`.
    """
    pairs = list(zip(unknown.items(), left, strict=False))
    if len(unknown) != len(left) or not all(_fits(spec, leaf.value) for (_, spec), leaf in pairs):
        return {}
    by_name = all(keys[0].startswith(_keys(leaf)[:1] or "") for (keys, _), leaf in pairs)
    if len(pairs) > 1 and not is_alone and not by_name:
        return {}
    return {leaf.path: spec for (_, spec), leaf in pairs}


def _nearest(keys: tuple[str, ...], left: list[Leaf]) -> list[str]:
    """The one input without an entry of its own that is meant by keys which lead to none.

    Keys that lack an index of a container, or have one too many, lead to the only input there;
    else the name is mistyped.
    """
    ways = [(leaf.path, _keys(leaf)) for leaf in left]
    around = [path for path, way in ways if way[: len(keys)] == keys or keys[: len(way)] == way]
    paths = [leaf.path for leaf in left]
    near = around or difflib.get_close_matches(join_path(keys), paths, n=2, cutoff=0.75)
    return near if len(near) == 1 else []


def _is_dim(given: Any) -> bool:
    """Whether this is the spec of one dim, as torch or another exporter takes it."""
    named = isinstance(given, str) and given.isidentifier()
    return given is None or named or isinstance(given, int | Dim) or dim_hint(given) is not None


def _axes_of(spec: Any) -> list[tuple[int, Any]]:
    """The dims of a tensor's spec, by position."""
    if isinstance(spec, Mapping):
        return list(spec.items())
    return list(enumerate(spec)) if isinstance(spec, tuple | list) else [(0, spec)]


def _fields_of(value: Any) -> tuple[str, ...]:
    """The names of the fields of a NamedTuple or a dataclass, in order; none of another value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(field.name for field in dataclasses.fields(value))
    return tuple(field_names(value))


def _fits(spec: Any, value: torch.Tensor) -> bool:
    """Whether a spec has no dim that a tensor lacks."""
    return not _for_value(spec, value)[1]


def _for_value(spec: Any, value: Any) -> tuple[Any, list[int]]:
    """A spec that fits an input, and the positions of dims that the input lacks."""
    if spec is None or not isinstance(value, torch.Tensor):
        return (spec if isinstance(value, int) and dim_hint(spec) else None), []
    if isinstance(spec, Mapping):
        result = {k: _dim_of(dim) for k, dim in spec.items() if -value.dim() <= k < value.dim()}
        return result, [k for k, dim in spec.items() if k not in result and dim is not None]
    if isinstance(spec, tuple | list):
        if _lists_axes(spec, value):
            return dict.fromkeys(spec, Dim.DYNAMIC), []
        dims = [*map(_dim_of, spec), *([None] * (value.dim() - len(spec)))][: value.dim()]
        return tuple(dims), [i for i in range(value.dim(), len(spec)) if spec[i] is not None]
    return ({0: _dim_of(spec)}, []) if value.dim() == 1 else (None, [0])


def _dim_of(dim: Any) -> Any:
    """A dim as torch.export takes it; other exporters take a name for a Dim, and -1 for any."""
    if type(dim) is int and dim == -1:
        return Dim.DYNAMIC
    return Dim(dim) if isinstance(dim, str) else dim


def _within_all_bounds(specs: list[Any]) -> list[Any]:
    """The specs with one Dim for all of a name, within the bounds of each."""
    named: dict[str, list[Any]] = {}
    for _, dim in (pair for spec in specs for pair in _axes_of(spec)):
        if isinstance(dim, Dim):
            named.setdefault(split_dim(dim)[0].__name__, []).append(dim)
    shared = {name: dim for name, dims in named.items() if (dim := _within(name, dims))}

    def one(dim: Any) -> Any:
        return shared.get(dim.__name__, dim) if isinstance(dim, Dim) else dim

    listed = (Mapping, tuple, list)
    return [{a: one(d) for a, d in _axes_of(s)} if isinstance(s, listed) else s for s in specs]


def _within(name: str, dims: list[Any]) -> Dim | None:
    """A Dim within the bounds of all; None where they are the same, exclude each other, or derive.

    A dim derived from one of them would keep its bounds.
    """
    bounds = {dim_bounds(dim) for dim in dims}
    if len(bounds) < 2 or any(split_dim(dim)[0] is not dim for dim in dims):
        return None
    low = max((low for low, _ in bounds if low is not None), default=None)
    high = min((high for _, high in bounds if high is not None), default=None)
    if low is not None and high is not None and low > high:
        return None
    limits = {key: number for key, number in (("min", low), ("max", high)) if number is not None}
    return Dim(name, **limits)


def _lists_axes(spec: tuple[Any, ...] | list[Any], value: torch.Tensor) -> bool:
    """Whether a spec lists the positions of dynamic dims, as `dynamic_axes` of ONNX does.

    Numbers that are the tensor's sizes are meant as such.
    """
    axes = [item for item in spec if type(item) is int and -value.dim() <= item < value.dim()]
    sizes = len(spec) == value.dim() and list(spec) == list(value.shape)
    return len(axes) == len(spec) == len(set(axes)) > 0 and not sizes


def _text_of(spec: Any) -> str:
    """A spec as it was written, with Dims by their names."""
    if isinstance(spec, Mapping):
        return "{" + ", ".join(f"{key}: {_dim_text(dim)}" for key, dim in spec.items()) + "}"
    if isinstance(spec, tuple | list):
        return f"({', '.join(map(_dim_text, spec))})"
    return _dim_text(spec)


def _dim_text(dim: Any) -> str:
    hint = dim_hint(dim)
    return f"Dim.{hint[0]}" if hint is not None else str(getattr(dim, "__name__", dim))
