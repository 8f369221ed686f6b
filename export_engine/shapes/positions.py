"""The dims that a spec by position names, `{-2: Dim("n")}`, as torch reads them: from the front.

torch passes over other keys without a word, so that a dim would stay static that was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from export_engine.shapes.errors import ShapesError
from export_engine.shapes.leaves import Leaf, count, leaves_of
from export_engine.shapes.torch_specs import MISFITS, specs_in_order
from export_engine.torch_internals import dynamic_shapes_tree, signature_of


def from_the_front(
    dynamic_shapes: Any, target: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """`dynamic_shapes` of a call with positions that count from the front.

    A structure that differs from the inputs' is left for torch to report.

    Raises:
        ShapesError: a tensor has no dim at a position, and torch would not say so, or a dim has two
            specs.
    """
    signature = signature_of(target)
    try:
        items = specs_in_order(dynamic_shapes, target, args, kwargs)
        leaves = leaves_of(signature, args, kwargs) if items is not None else []
    except MISFITS:
        return dynamic_shapes
    if items is None or len(items) != len(leaves):
        return dynamic_shapes
    counted = [_count_from_front(leaf, spec) for leaf, spec in zip(leaves, items, strict=True)]
    if all(new is old for new, old in zip(counted, items, strict=True)):
        return dynamic_shapes
    return dynamic_shapes_tree(signature, args, kwargs, counted)


def _count_from_front(leaf: Leaf, spec: Any) -> Any:
    """The spec of a leaf; itself where every position counts from the front already."""
    path, value = leaf
    if not isinstance(value, torch.Tensor) or not isinstance(spec, Mapping):
        return spec
    if not all(type(key) is int for key in spec):
        return spec
    dims = value.dim()
    outside = [key for key in spec if not -dims <= key < dims]
    if any(key >= 0 and isinstance(spec[key], torch.export.Dim) for key in outside):
        return spec  # torch says so
    if outside:
        which = f"use positions from {-dims} to {dims - 1}" if dims else "give None"
        raise ShapesError(
            f"{path} has {count(dims)}, {list(value.shape)}, and its spec names dim "
            f"{outside[0]}; {which}"
        )
    if all(key >= 0 for key in spec):
        return spec
    result: dict[int, Any] = {}
    for key, dim in spec.items():
        if key % dims in result:
            raise ShapesError(
                f"{path} dim {key % dims} has two specs, one at "
                f"{key - dims if key >= 0 else key}; keep one of them"
            )
        result[key % dims] = dim
    return result
