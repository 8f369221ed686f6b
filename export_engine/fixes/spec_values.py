"""The spec that a user wrote for one tensor, and the one that torch.export takes for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch
from torch.export import Dim

from export_engine.torch_internals import dim_bounds, dim_hint, field_names, split_dim


def is_dim(given: Any) -> bool:
    """Whether this is the spec of one dim, as torch or another exporter takes it."""
    named = isinstance(given, str) and given.isidentifier()
    return given is None or named or isinstance(given, int | Dim) or dim_hint(given) is not None


def is_dynamic(spec: Any) -> bool:
    """Whether the spec of a tensor or a number has an entry that is not None."""
    dims = spec.values() if isinstance(spec, Mapping) else spec
    if not isinstance(spec, Mapping | tuple | list):
        return spec is not None
    return any(dim is not None for dim in dims)


def axes_of(spec: Any) -> list[tuple[int, Any]]:
    """The dims of a tensor's spec, by position."""
    if isinstance(spec, Mapping):
        return list(spec.items())
    return list(enumerate(spec)) if isinstance(spec, tuple | list) else [(0, spec)]


def fields_of(value: Any) -> tuple[str, ...]:
    """The names of the fields of a NamedTuple or a dataclass, in order; none of another value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(field.name for field in dataclasses.fields(value))
    return tuple(field_names(value))


def fits(spec: Any, value: torch.Tensor) -> bool:
    """Whether a spec has no dim that a tensor lacks."""
    return not for_value(spec, value)[1]


def for_value(spec: Any, value: Any) -> tuple[Any, list[int]]:
    """A spec that fits an input, and the positions of dims that the input lacks."""
    if spec is None or not isinstance(value, torch.Tensor):
        return (spec if isinstance(value, int) and dim_hint(spec) else None), []
    if isinstance(spec, Mapping):
        result = {
            key: _dim_of(dim) for key, dim in spec.items() if -value.dim() <= key < value.dim()
        }
        lost = [key for key, dim in spec.items() if key not in result and dim is not None]
        return result, lost
    if isinstance(spec, tuple | list):
        if _lists_axes(spec, value):
            return dict.fromkeys(spec, Dim.DYNAMIC), []
        dims = [*map(_dim_of, spec), *([None] * (value.dim() - len(spec)))][: value.dim()]
        return tuple(dims), [i for i in range(value.dim(), len(spec)) if spec[i] is not None]
    return ({0: _dim_of(spec)}, []) if value.dim() == 1 else (None, [0])


def _dim_of(dim: Any) -> Any:
    """A dim as torch.export takes it; other exporters take a name for a Dim, and -1 for any."""
    if type(dim) is int and dim == _ANY:
        return Dim.DYNAMIC
    return Dim(dim) if isinstance(dim, str) else dim


_ANY = -1


def within_all_bounds(specs: list[Any]) -> list[Any]:
    """The specs with one Dim for all of a name, within the bounds of each."""
    named: dict[str, list[Any]] = {}
    for _, dim in (pair for spec in specs if spec is not None for pair in axes_of(spec)):
        if isinstance(dim, Dim):
            named.setdefault(split_dim(dim)[0].__name__, []).append(dim)
    within = {name: _within(name, dims) for name, dims in named.items()}
    shared = {name: dim for name, dim in within.items() if dim is not None}

    def one(dim: Any) -> Any:
        return shared.get(dim.__name__, dim) if isinstance(dim, Dim) else dim

    return [
        {axis: one(dim) for axis, dim in axes_of(spec)}
        if isinstance(spec, Mapping | tuple | list)
        else spec
        for spec in specs
    ]


def _within(name: str, dims: list[Any]) -> Dim | None:
    """A Dim within the bounds of all; None where they are the same, exclude each other, or derive.

    What derives from one of them would keep its bounds.
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


def text_of(spec: Any) -> str:
    """A spec as it was written, with Dims by their names."""
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
