"""Rewrites `dynamic_shapes` that do not fit the call, if the intent can be told."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.export import Dim

from export_engine.attempt import Failed, Fix, Kind, NoFix, Request, signature_of
from export_engine.progress import Progress
from export_engine.record import join_path, split_path
from export_engine.shapes import Leaf, Shapes, ShapesError, leaves_of
from export_engine.torch_internals import (
    dim_hint,
    dynamic_shapes_tree,
    field_names,
    is_shapes_spec,
    keywords_apart,
)

_NOTHING = object()


def offered(
    attempt: Failed, progress: Callable[[Progress], None] | None = None
) -> Iterator[Fix | NoFix]:
    """The right shapes for an attempt whose diagnosis says that they do not fit."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind is not Kind.SHAPES_MISMATCH:
        return
    if is_shapes_spec(request.shapes):
        inputs = "; ".join(line.split("    ")[0] for line in expected_tree(request).splitlines())
        yield NoFix(f"A ShapesSpec is not rewritten; all static, the inputs are `{inputs}`.")
        return
    try:
        shapes, dropped = fitted(request)
    except ShapesError as error:
        yield NoFix(f"The spec cannot be matched to the call: {error.message}.")
        return
    if not shapes:
        yield NoFix("None of the entries matches an input of the call.")
        return
    yield Fix(
        kind="shapes",
        title="Restructure dynamic_shapes to match this call",
        why="Each input gets its entry, matched by name or by position.",
        lossy=bool(dropped),
        gives_up=f"No input was found for {', '.join(dropped)}." if dropped else "",
        change=lambda request: request.with_changes(shapes=shapes),
        before=given_tree(request),
        after=f"{shapes}\n\nThe call's inputs:\n{expected_tree(request)}",
    )


def expected_tree(request: Request) -> str:
    """The inputs of a call in the short language, a line for each tensor, all static."""
    lines = []
    for path, value in _leaves(request):
        if isinstance(value, torch.Tensor):
            dims = ", ".join("_" for _ in value.shape)
            lines.append(f"{path}: {dims}    {list(value.shape)}" if dims else f"{path}:    []")
    return "\n".join(lines)


def given_tree(request: Request) -> str:
    """The `dynamic_shapes` of a request as they were written, a line for each entry."""
    return "\n".join(f"{join_path(keys)}: {_text(spec)}" for keys, spec in _entries(request.shapes))


def fitted(request: Request) -> tuple[Shapes, list[str]]:
    """The shapes that a request's misfitting `dynamic_shapes` most likely mean.

    Returns:
        The shapes, and the entries that belong to no input.

    Raises:
        ShapesError: an entry is one that no input can have.
    """
    leaves = _leaves(request)
    entries = {_named(keys, request): each for keys, each in _entries(_by_name(request))}
    meant: dict[str, Any] = {}
    for leaf in leaves:
        spec = entries.pop(tuple(split_path(leaf.path) or ()), _NOTHING)
        if spec is not _NOTHING:
            meant[leaf.path] = spec
    dropped = []
    for keys, spec in entries.items():
        if not _is_dynamic(spec):
            continue
        leaf_for = _nearest(keys, [leaf for leaf in leaves if leaf.path not in meant])
        if leaf_for is None:
            dropped.append(f"`{join_path(keys)}`")
        else:
            meant[leaf_for.path] = spec
    specs = []
    for path, value in leaves:
        spec, lost = _for_value(meant.get(path), value)
        specs.append(spec)
        dropped += [f"`{path}` dim {position}" for position in lost]
    signature = signature_of(request.target)
    tree = dynamic_shapes_tree(signature, request.args, request.kwargs, specs)
    return Shapes.from_torch(tree, request.target, request.args, request.kwargs), dropped


def _leaves(request: Request) -> list[Leaf]:
    return leaves_of(signature_of(request.target), request.args, request.kwargs)


def _by_name(request: Request) -> Any:
    """The given specs by the inputs' names, keywords of `**kwargs` apart."""
    given = request.shapes
    signature = signature_of(request.target)
    names = list(
        keywords_apart(signature, signature.bind(*request.args, **request.kwargs).arguments)
    )
    if isinstance(given, tuple | list):
        leaves = _leaves(request)
        tensors = [leaf for leaf in leaves if isinstance(leaf.value, torch.Tensor)]
        if len(given) != len(names) and len(given) == len(tensors) and _all_leaves(given):
            return _tree([(leaf.path, each) for leaf, each in zip(tensors, given, strict=True)])
        return dict(zip(names, given, strict=False))
    if isinstance(given, Mapping) and all(isinstance(key, str) for key in given):
        try:
            return keywords_apart(signature, given)
        except (TypeError, ValueError, AttributeError):
            return given
    return given


def _named(keys: tuple[str, ...], request: Request) -> tuple[str, ...]:
    """Keys with positions in a NamedTuple as the names of its fields."""
    arguments = signature_of(request.target).bind(*request.args, **request.kwargs).arguments
    value: Any = dict(arguments)
    found: list[str] = []
    for key in keys:
        fields = field_names(value)
        known = bool(fields) and key.isdecimal() and int(key) < len(fields)
        name = fields[int(key)] if known else key
        found.append(name)
        if isinstance(value, torch.Tensor):  # a tensor would be indexed, with a warning
            value = None
        try:
            value = getattr(value, name) if name in fields else value[_key(value, name)]
        except (TypeError, KeyError, IndexError, ValueError):
            value = None
    return tuple(found)


def _key(value: Any, key: str) -> Any:
    return int(key) if isinstance(value, list | tuple) else key


def _tree(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Specs by path as one tree of dicts."""
    found: dict[str, Any] = {}
    for path, spec in pairs:
        *way, last = split_path(path) or [path]
        inner = found
        for key in way:
            inner = inner.setdefault(key, {})
        inner[last] = spec
    return found


def _all_leaves(given: Any) -> bool:
    return all(_is_leaf_spec(each) for each in given)


def _entries(given: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The specs of tensors in a tree of specs, with the keys to them."""
    if _is_leaf_spec(given) or not isinstance(given, Mapping | tuple | list):
        yield keys, given
        return
    items = given.items() if isinstance(given, Mapping) else enumerate(given)
    for key, each in items:
        yield from _entries(each, (*keys, str(key)))


def _is_leaf_spec(given: Any) -> bool:
    """Whether this is the spec of one tensor: dims by position, or one after the other."""
    if given is None:
        return True
    if isinstance(given, Mapping):
        return bool(given) and all(isinstance(key, int) for key in given)
    if isinstance(given, tuple | list):
        return bool(given) and all(_is_dim(each) for each in given)
    return False


def _is_dim(given: Any) -> bool:
    return given is None or isinstance(given, int | Dim) or dim_hint(given) is not None


def _is_dynamic(spec: Any) -> bool:
    dims = spec.values() if isinstance(spec, Mapping) else spec
    if not isinstance(spec, Mapping | tuple | list):
        return spec is not None
    return any(each is not None for each in dims)


def _nearest(keys: tuple[str, ...], left: list[Leaf]) -> Leaf | None:
    """The input without an entry of its own that is meant by keys which lead to none.

    Keys that lack an index of a container, or have one too many, lead to the only input there;
    else the name is mistyped; else there is one tensor left.
    """
    tensors = [leaf for leaf in left if isinstance(leaf.value, torch.Tensor)]
    parts = [(leaf, tuple(split_path(leaf.path) or ())) for leaf in tensors]
    around = [leaf for leaf, way in parts if way[: len(keys)] == keys or keys[: len(way)] == way]
    if around:
        return around[0] if len(around) == 1 else None
    paths = {leaf.path: leaf for leaf in tensors}
    near = difflib.get_close_matches(join_path(keys), paths, n=2, cutoff=0.75)
    return paths[near[0]] if len(near) == 1 else None


def _for_value(spec: Any, value: Any) -> tuple[Any, list[int]]:
    """A spec that fits an input, and the positions of dims that the input lacks."""
    if spec is None or not isinstance(value, torch.Tensor):
        return (spec if isinstance(value, int) and dim_hint(spec) else None), []
    if isinstance(spec, Mapping):
        known = {key: dim for key, dim in spec.items() if -value.dim() <= key < value.dim()}
        lost = [key for key, dim in spec.items() if key not in known and dim is not None]
        return known, lost
    if isinstance(spec, tuple | list):
        dims = [*spec, *([None] * (value.dim() - len(spec)))][: value.dim()]
        return tuple(dims), [i for i in range(value.dim(), len(spec)) if spec[i] is not None]
    return None, []


def _text(spec: Any) -> str:
    if isinstance(spec, Mapping):
        return "{" + ", ".join(f"{key}: {_dim_text(dim)}" for key, dim in spec.items()) + "}"
    if isinstance(spec, tuple | list):
        return f"({', '.join(map(_dim_text, spec))})"
    return _dim_text(spec)


def _dim_text(dim: Any) -> str:
    hint = dim_hint(dim)
    if hint is not None:
        return f"Dim.{hint[0]}"
    return str(getattr(dim, "__name__", dim))
