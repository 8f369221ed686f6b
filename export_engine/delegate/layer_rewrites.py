"""Rewrites of whole layers: norms, attention, and what no input changes.

A mean over the last dim is a product with a column of constants: a linear layer, which delegates
take at any rank and any number of dynamic sizes, where their own means are of four dims.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import torch
from torch.fx import Node

from export_engine.delegate.graph_edit import (
    LARGEST,
    GraphEdit,
    argument,
    as_written,
    has_effects,
    shape_of,
)
from export_engine.delegate.rewrite import Rewrite, collect_into

_aten = torch.ops.aten

LAYERS: list[Rewrite] = []
"""The kinds of rewrites of layers."""
_rewrite = collect_into(LAYERS)


@_rewrite("constant", "Compute what no input changes ahead of time")
def _constant(edit: GraphEdit, node: Node) -> Node | None:
    readers = [user for user in node.users if shape_of(user) is not None]
    program = edit.within
    if all(program.reads_no_input(user) and program.replaces(user) for user in readers):
        return None  # a later op is held, or nothing reads it
    value, name = program.evaluate(node), f"value_of_{node.name}"
    return None if value is None else program.store(name, value, node.meta["val"])


@_rewrite("bfloat16", "Run bfloat16 ops in float32")
def _replace_bfloat16(edit: GraphEdit, node: Node) -> Node | None:
    return _in_float32(edit, node, torch.bfloat16)


@_rewrite("float64", "Run float64 ops in float32, which rounds them", keeps_all=False)
def _replace_float64(edit: GraphEdit, node: Node) -> Node | None:
    return _in_float32(edit, node, torch.float64)


def _in_float32(edit: GraphEdit, node: Node, dtype: torch.dtype) -> Node | None:
    """An op of a dtype in float32, and a cast back to it."""
    sources = [part for part in node.all_input_nodes if _dtype_of(part) == dtype]
    if _dtype_of(node) != dtype or not sources or has_effects(node.target):
        return None
    if {"dtype", "out_dtype"} & node.kwargs.keys():
        return None
    casts = {part: _to_float32(edit, part) for part in sources}
    args, kwargs = torch.fx.map_arg(
        (node.args, dict(node.kwargs)), lambda part: casts.get(part, part)
    )
    result = edit.emit(node.target, *args, **kwargs)
    if _dtype_of(result) != torch.float32:
        return None
    return edit.once(_aten.to.dtype, result, dtype)


def _dtype_of(node: Node) -> torch.dtype | None:
    value = node.meta.get("val")
    return value.dtype if isinstance(value, torch.Tensor) else None


def _to_float32(edit: GraphEdit, node: Node) -> Node:
    """A value in float32: what it was rounded from, a weight's copy, or a cast."""
    if node in edit.within.shared and node.target is _aten.to.dtype:
        source = node.args[0]
        assert isinstance(source, Node)
        return source
    weight = edit.within.weight_of(node)
    if weight is not None:
        name, fake = f"{node.name}_in_float32", node.meta["val"].float()
        return edit.within.store(name, weight.float(), fake)
    return _as_float(edit, node)


@_rewrite("mean of a row", "Write a mean over the last dim as a linear layer", "mean.dim")
def _mean_of_row(edit: GraphEdit, node: Node) -> Node | None:
    sizes, result = shape_of(node.args[0]), shape_of(node)
    if sizes is None or result is None or node.kwargs.get("dtype") is not None:
        return None
    dims = [dim % len(sizes) for dim in argument(node, 1, "dim") or []]
    if dims != [len(sizes) - 1]:
        return None
    mean = _average_row(edit, node.args[0])
    if mean is None or argument(node, 2, "keepdim", False):
        return mean
    return edit.view(mean, result)


def _average_row(edit: GraphEdit, source: Any) -> Node | None:
    """The mean over the last dim, which stays; None where its size is dynamic, or not float32.

    Half precision would round each sum.
    """
    sizes, value = shape_of(source), source.meta["val"]
    if not sizes or not isinstance(sizes[-1], int) or not sizes[-1] or value.dtype != torch.float32:
        return None
    count = sizes[-1]
    weight = edit.within.store(
        f"average_of_{count}",
        torch.full((1, count), 1 / count, device=value.device),
        value.new_empty((1, count)),
    )
    return edit.emit(_aten.linear.default, source, weight)


@_rewrite(
    "layer norm", "Write layer_norm as linear layers, products and rsqrt", "layer_norm.default"
)
def _layer_norm(edit: GraphEdit, node: Node) -> Node | None:
    normed = node.args[1]
    if not isinstance(normed, list | tuple) or len(normed) != 1:
        return None
    mean = _average_row(edit, node.args[0])
    if mean is None:
        return None
    off = edit.emit(_aten.sub.Tensor, node.args[0], mean)
    result = _scale_rows(edit, off, argument(node, 4, "eps", 1e-5))
    return _with_weights(edit, result, argument(node, 2, "weight"), argument(node, 3, "bias"))


@_rewrite("rms norm", "Write rms_norm as a linear layer, products and rsqrt", "rms_norm.default")
def _rms_norm(edit: GraphEdit, node: Node) -> Node | None:
    normed, eps = node.args[1], argument(node, 3, "eps")
    if not isinstance(normed, list | tuple) or len(normed) != 1:
        return None
    result = _scale_rows(edit, node.args[0], torch.finfo(torch.float32).eps if eps is None else eps)
    return _with_weights(edit, result, argument(node, 2, "weight"), None)


@_rewrite("group norm", "Write group_norm as means, products and rsqrt", "group_norm.default")
def _group_norm(edit: GraphEdit, node: Node) -> Node | None:
    source, groups = node.args[0], argument(node, 1, "num_groups")
    sizes = shape_of(source)
    if sizes is None or not all(isinstance(size, int) for size in sizes[1:]) or 0 in sizes:
        return None
    rows = -1 if not isinstance(sizes[0], int) else sizes[0] * groups
    four = edit.emit(_aten.reshape.default, source, [rows, 1, 1, prod(sizes[1:]) // groups])
    off = edit.emit(_aten.sub.Tensor, four, _average_four(edit, four))
    spread = _average_four(edit, edit.emit(_aten.mul.Tensor, off, off))
    result = _scale(edit, off, spread, argument(node, 4, "eps", 1e-5))
    result = edit.emit(_aten.reshape.default, result, as_written(sizes))
    one = [1, sizes[1], *[1] * (len(sizes) - 2)]
    weight, bias = argument(node, 2, "weight"), argument(node, 3, "bias")
    held = [
        value if value is None else edit.emit(_aten.reshape.default, value, one)
        for value in (weight, bias)
    ]
    return _with_weights(edit, result, *held)


def _average_four(edit: GraphEdit, source: Node) -> Node:
    """The mean of four dims over the last two, which stay."""
    return edit.emit(_aten.mean.dim, source, [2, 3], True)


def _scale_rows(edit: GraphEdit, source: Any, eps: Any) -> Node | None:
    """Rows over the root of their mean square; None where `_average_row` does not apply."""
    spread = _average_row(edit, edit.emit(_aten.mul.Tensor, source, source))
    return None if spread is None else _scale(edit, source, spread, eps)


def _scale(edit: GraphEdit, source: Any, spread: Node, eps: Any) -> Node:
    steady = edit.emit(_aten.add.Tensor, spread, float(eps))
    return edit.emit(_aten.mul.Tensor, source, edit.emit(_aten.rsqrt.default, steady))


def _with_weights(edit: GraphEdit, result: Node | None, weight: Any, bias: Any) -> Node | None:
    if result is None:
        return None
    scaled = result if weight is None else edit.emit(_aten.mul.Tensor, result, weight)
    return scaled if bias is None else edit.emit(_aten.add.Tensor, scaled, bias)


@_rewrite(
    "attention",
    "Write attention as products and softmax, with its mask added",
    "scaled_dot_product_attention.default",
)
def _attention(edit: GraphEdit, node: Node) -> Node | None:
    query, key, value = node.args[:3]
    sizes, other = shape_of(query), shape_of(key)
    if sizes is None or other is None or len(sizes) < 3 or not _is_plain_attention(node):
        return None
    mask = _Mask.of(edit, node, sizes[-2], other[-2])
    if mask is None:
        return None
    scale: Any = node.kwargs.get("scale")
    factor = sizes[-1] ** -0.5 if scale is None else scale
    scaled = edit.emit(_aten.mul.Tensor, query, float(factor))
    last = len(sizes) - 1
    turned = edit.emit(_aten.permute.default, key, [*range(last - 1), last, last - 1])
    scores = _multiply(edit, scaled, turned)
    weights = edit.emit(_aten.softmax.int, mask.add_to(edit, scores), -1)
    return _multiply(edit, mask.clear(edit, weights), value)


def _is_plain_attention(node: Node) -> bool:
    """Whether it draws no numbers, repeats no keys and is in float32."""
    value = node.meta["val"]
    return (
        value.dtype == torch.float32
        and not argument(node, 4, "dropout_p", 0.0)
        and not node.kwargs.get("enable_gqa", False)
    )


def _multiply(edit: GraphEdit, left: Any, right: Any) -> Node:
    """A product of matrices: bmm if at most one size is dynamic, matmul if not."""
    one, two = shape_of(left), shape_of(right)
    assert one is not None
    assert two is not None
    first, second, result = _as_stack(one), _as_stack(two), as_written([*one[:-1], two[-1]])
    alike = [*map(str, one[:-2])] == [*map(str, two[:-2])]
    if not alike or first is None or second is None or result is None:
        return edit.emit(_aten.matmul.default, left, right)
    rows, columns = _stack(edit, left, first), _stack(edit, right, second)
    return edit.emit(_aten.view.default, edit.emit(_aten.bmm.default, rows, columns), result)


def _stack(edit: GraphEdit, node: Node, sizes: list[int]) -> Node:
    """A view; with a dynamic size torch decomposes a reshape to one that names the size."""
    if -1 not in sizes:
        return edit.emit(_aten.reshape.default, node, sizes)
    copied = edit.emit(_aten.clone.default, node, memory_format=torch.contiguous_format)
    return edit.emit(_aten.view.default, copied, sizes)


def _as_stack(sizes: list[Any]) -> list[int] | None:
    """Sizes of a stack of matrices, as a view takes them."""
    return as_written([prod(sizes[:-2]), *sizes[-2:]])


class _Mask(NamedTuple):
    """What a mask does: numbers that are added to scores, and rows that are left."""

    added: Node | None
    rows: Node | None
    """1 for a row that sees a key, 0 for one that sees none, whose result is 0."""

    @classmethod
    def of(cls, edit: GraphEdit, node: Node, rows: Any, keys: Any) -> _Mask | None:
        """The mask of attention; None where it is not known ahead of time, or not float32."""
        mask = argument(node, 3, "attn_mask")
        if argument(node, 5, "is_causal", False):
            return None if mask is not None else cls._of_order(edit, node, rows, keys)
        if mask is None:
            return cls(None, None)
        if mask.meta["val"].dtype == torch.bool:
            shown = _as_float(edit, mask)
            shifted = edit.once(_aten.sub.Tensor, shown, 1.0)
            added, sees = edit.once(_aten.mul.Tensor, shifted, -_FAR), mask
        elif mask.meta["val"].dtype == torch.float32:
            added = edit.once(_aten.clamp.default, mask, _FAR)
            sees = edit.once(_aten.ne.Scalar, mask, -torch.inf)
        else:
            return None
        return cls(added, _as_float(edit, edit.once(_aten.any.dim, sees, -1, True)))

    @classmethod
    def _of_order(cls, edit: GraphEdit, node: Node, rows: Any, keys: Any) -> _Mask | None:
        """A row sees itself and the rows before."""
        if not isinstance(rows, int) or not isinstance(keys, int) or rows * keys > LARGEST:
            return None
        value = node.meta["val"]
        later = torch.full((rows, keys), _FAR, device=value.device).triu(1)
        name = f"later_of_{rows}_{keys}"
        return cls(edit.within.store(name, later, value.new_empty((rows, keys))), None)

    def add_to(self, edit: GraphEdit, scores: Node) -> Node:
        """Scores with the mask."""
        return scores if self.added is None else edit.emit(_aten.add.Tensor, scores, self.added)

    def clear(self, edit: GraphEdit, weights: Node) -> Node:
        """Weights without those of rows that see nothing."""
        return weights if self.rows is None else edit.emit(_aten.mul.Tensor, weights, self.rows)


_FAR = -1e30
"""Next to it a score is nothing, and its exponential is 0, as that of minus infinity."""


def _as_float(edit: GraphEdit, node: Node) -> Node:
    return edit.once(_aten.to.dtype, node, torch.float32)
