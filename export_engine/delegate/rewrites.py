"""Rewrites that bring an op into a delegate: the same value by ops that the delegate's rules take.

Each holds for every input of the op's type. Where a size must be fixed for the rule, and is not,
the rewrite does not apply.
"""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import torch
from torch.fx import Node

from export_engine.delegate.graph_edit import (
    GraphEdit,
    argument,
    as_written,
    is_float,
    shape_of,
    static_shape,
)
from export_engine.delegate.rewrite import Rewrite, collect_into

_aten = torch.ops.aten


OPS: list[Rewrite] = []
"""The kinds of rewrites of a single op."""
_rewrite = collect_into(OPS)


@_rewrite("alpha", "Multiply by alpha before adding", "add.Tensor", "sub.Tensor")
def _alpha(edit: GraphEdit, node: Node) -> Node | None:
    alpha = node.kwargs.get("alpha", 1)
    if alpha == 1 or not isinstance(node.args[1], Node):
        return None
    if isinstance(alpha, int) and abs(alpha) <= _EXACT and is_float(node):
        alpha = float(alpha)
    scaled = edit.emit(_aten.mul.Tensor, node.args[1], alpha)
    return edit.emit(node.target, node.args[0], scaled)


@_rewrite(
    "integer scalar",
    "Write a number used with a float tensor as a float",
    *("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor"),
)
def _integer_scalar(edit: GraphEdit, node: Node) -> Node | None:
    number = node.args[1]
    if type(number) is not int or abs(number) > _EXACT or node.kwargs or not is_float(node):
        return None
    return edit.emit(node.target, node.args[0], float(number))


_EXACT = 2048
"""The largest integer up to which all are exact in half precision."""


@_rewrite("mean", "Average the last two dims with keepdim=True", "mean.dim", "mean.default")
def _mean(edit: GraphEdit, node: Node) -> Node | None:
    dims = argument(node, 1, "dim") if str(node.target).endswith(".dim") else None
    if node.kwargs.get("dtype") is not None:
        return None
    return _average(edit, node, node.args[0], dims)


@_rewrite("sum", "Average with keepdim=True, and multiply by the count", "sum.dim_IntList")
def _sum(edit: GraphEdit, node: Node) -> Node | None:
    sizes, dims = shape_of(node.args[0]), argument(node, 1, "dim")
    if sizes is None or not dims or node.kwargs.get("dtype") is not None or not is_float(node):
        return None
    count = prod(sizes[dim] for dim in dims)
    if not isinstance(count, int):
        return None
    mean = _average(edit, node, node.args[0], dims)
    return None if mean is None else edit.emit(_aten.mul.Tensor, mean, float(count))


def _average(edit: GraphEdit, node: Node, source: Any, dims: Any) -> Node | None:
    """The mean over dims of any rank, by one over the last two of four."""
    sizes, result = shape_of(source), shape_of(node)
    if sizes is None or result is None or not sizes or not is_float(node):
        return None
    chosen = sorted({dim % len(sizes) for dim in (dims or range(len(sizes)))})
    kept = [dim for dim in range(len(sizes)) if dim not in chosen]
    if not all(isinstance(sizes[dim], int) and sizes[dim] for dim in chosen):
        return None
    order, moved = [*kept, *chosen], source
    if order != sorted(order):
        moved = edit.emit(_aten.permute.default, source, order)
    four = _as_four([sizes[dim] for dim in kept], [sizes[dim] for dim in chosen])
    if four is None:
        return None
    if shape_of(moved) != four:
        moved = edit.emit(_aten.view.default, _contiguous(edit, moved, source), four)
    mean = edit.emit(_aten.mean.dim, moved, [2, 3], True)
    return edit.view(mean, result)


def _as_four(kept: list[Any], chosen: list[Any]) -> list[int] | None:
    """Sizes of four dims, the last two of which are those that go."""
    fixed = [value for value in kept if isinstance(value, int)]
    if len(kept) - len(fixed) > 1:
        return None
    first: list[int] = [prod(fixed), 1] if len(kept) == len(fixed) else [-1, prod(fixed)]
    if len(kept) == 2 and all(isinstance(value, int) for value in kept):
        first = kept
    last = [1, prod(chosen)] if len(chosen) != 2 else chosen
    return [*first, *last]


def _contiguous(edit: GraphEdit, moved: Any, source: Any) -> Any:
    if moved is source:
        return moved
    return edit.emit(_aten.clone.default, moved, memory_format=torch.contiguous_format)


@_rewrite("unsqueeze", "Write unsqueeze as a view", "unsqueeze.default")
def _unsqueeze(edit: GraphEdit, node: Node) -> Node | None:
    return _use_reshape(edit, node)


@_rewrite("squeeze", "Write squeeze as a view", "squeeze.dim", "squeeze.dims", "squeeze.default")
def _squeeze(edit: GraphEdit, node: Node) -> Node | None:
    return _use_reshape(edit, node)


@_rewrite(
    "view",
    "Let view infer its symbolic size: -1",
    *("view.default", "reshape.default", "flatten.using_ints", "unflatten.int"),
    "_unsafe_view.default",
)
def _symbolic_view(edit: GraphEdit, node: Node) -> Node | None:
    sizes = shape_of(node)
    if sizes is None or all(isinstance(size, int) for size in sizes):
        return None
    return _use_reshape(edit, node)


def _use_reshape(edit: GraphEdit, node: Node) -> Node | None:
    """The node's value as a reshape of its input, which XNNPACK has one op for."""
    source, sizes = shape_of(node.args[0]), shape_of(node)
    written = None if sizes is None else as_written(sizes)
    if source is None or written is None or 0 in written or not is_float(node):
        return None
    return edit.emit(_aten.reshape.default, node.args[0], written)


@_rewrite("select", "Write an index as a slice of one, and a view", "select.int")
def _select(edit: GraphEdit, node: Node) -> Node | None:
    sizes, index = static_shape(node.args[0]), node.args[2]
    if sizes is None or not isinstance(index, int) or not is_float(node):
        return None
    dim = int(node.args[1]) % len(sizes)  # type: ignore[arg-type]
    start = index % sizes[dim]
    return _one_of(edit, node, dim, start)


def _one_of(edit: GraphEdit, node: Node, dim: int, start: int) -> Node | None:
    part = edit.emit(_aten.slice.Tensor, node.args[0], dim, start, start + 1)
    return edit.emit(_aten.reshape.default, part, static_shape(node))


@_rewrite("strided slice", "Write a slice with a step as views and a slice", "slice.Tensor")
def _replace_strided_slice(edit: GraphEdit, node: Node) -> Node | None:
    sizes, step = static_shape(node.args[0]), argument(node, 4, "step", 1)
    result = static_shape(node)
    if sizes is None or result is None or step == 1 or not is_float(node):
        return None
    dim = int(argument(node, 1, "dim", 0)) % len(sizes)
    start = argument(node, 2, "start") or 0
    start = start + sizes[dim] if start < 0 else start
    count = result[dim]
    if not count or start + count * step > sizes[dim]:
        return None  # the last part is shorter than a step
    source: Any = node.args[0]
    if start or count * step != sizes[dim]:
        source = edit.emit(_aten.slice.Tensor, source, dim, start, start + count * step)
    split = [*sizes[:dim], count, step, *sizes[dim + 1 :]]
    parts = edit.emit(_aten.reshape.default, source, split)
    first = edit.emit(_aten.slice.Tensor, parts, dim + 1, 0, 1)
    return edit.emit(_aten.reshape.default, first, result)


@_rewrite("max", "Take the maximum with keepdim=True", "max.dim", "amax.default")
def _max(edit: GraphEdit, node: Node) -> Node | None:
    source, dims = shape_of(node.args[0]), argument(node, 1, "dim")
    dims = dims if isinstance(dims, list | tuple) else [dims]
    if source is None or len(source) != _RANK or len(dims) != 1:
        return None
    dim, is_picked = dims[0] % _RANK, str(node.target) == "aten.max.dim"
    if dim not in _INNERMOST or (is_picked and dims[0] == dim and argument(node, 2, "keepdim")):
        return None
    picks = [user for user in node.users if user.users]  # an index that nobody reads stays behind
    if is_picked and any(pick.target is not _getitem or pick.args[1] != 0 for pick in picks):
        return None
    whole = edit.emit(_aten.max.dim, node.args[0], dim, True)
    values = edit.emit(_getitem, whole, 0)
    if not is_picked:
        return edit.view(values, shape_of(node) or [])
    for pick in picks:
        viewed = edit.view(values, shape_of(pick) or [])
        if viewed is None:
            return None
        GraphEdit(pick, edit.within).put(viewed)
    return whole


_RANK = 4
"""The rank that XNNPACK's rules for means and maxima ask for."""
_INNERMOST = (2, 3)
"""The dims that its compiler takes a maximum over, none of them as -1."""


_getitem = operator.getitem


@_rewrite("power", "Write a power as products or roots", "pow.Tensor_Scalar")
def _power(edit: GraphEdit, node: Node) -> Node | None:
    source, power = node.args[0], node.args[1]
    if not is_float(node) or not isinstance(power, int | float):
        return None
    if power == 0.5:
        return edit.emit(_aten.sqrt.default, source)
    if power == -0.5:
        return edit.emit(_aten.rsqrt.default, source)
    if power == 2 and not isinstance(power, int):
        return edit.emit(_aten.pow.Tensor_Scalar, source, 2)
    if power in (3, 4):
        square = edit.emit(_aten.mul.Tensor, source, source)
        return edit.emit(_aten.mul.Tensor, square, source if power == 3 else square)
    return None


@_rewrite("softmax", "Permute so that softmax goes over the last dim", "softmax.int")
def _softmax(edit: GraphEdit, node: Node) -> Node | None:
    sizes = shape_of(node.args[0])
    if sizes is None or argument(node, 2, "dtype") is not None:
        return None
    dim, last = int(node.args[1]) % len(sizes), len(sizes) - 1  # type: ignore[arg-type]
    if dim == last:
        return None
    order = list(range(len(sizes)))
    order[dim], order[last] = last, dim
    moved = edit.emit(_aten.permute.default, node.args[0], order)
    result = edit.emit(_aten.softmax.int, moved, last)
    return edit.emit(_aten.permute.default, result, order)


@_rewrite("average pool", "Pad before an average pool", "avg_pool2d.default")
def _average_pool(edit: GraphEdit, node: Node) -> Node | None:
    padding = argument(node, 3, "padding", [0, 0])
    counts = argument(node, 5, "count_include_pad", True)
    divisor = argument(node, 6, "divisor_override")
    if argument(node, 4, "ceil_mode", False) or not counts or divisor is not None:
        return None
    height, width = (padding * 2)[:2]
    if not height and not width:
        return None
    pads = [width, width, height, height]
    padded = edit.emit(_aten.constant_pad_nd.default, node.args[0], pads, 0.0)
    stride = argument(node, 2, "stride", []) or node.args[1]
    return edit.emit(_aten.avg_pool2d.default, padded, node.args[1], stride)


@_rewrite(
    "product", "Write a product of two computed tensors as bmm", "matmul.default", "mm.default"
)
def _product(edit: GraphEdit, node: Node) -> Node | None:
    return _replace_batched(edit, node, node.args[0], node.args[1])


@_rewrite("linear", "Write linear with a computed weight as bmm", "linear.default")
def _linear(edit: GraphEdit, node: Node) -> Node | None:
    weight = static_shape(node.args[1])
    if weight is None or len(weight) != 2 or argument(node, 2, "bias") is not None:
        return None
    if isinstance(node.args[1], Node) and edit.within.is_stored(node.args[1]):
        return None
    turned = edit.emit(_aten.permute.default, node.args[1], [1, 0])
    return _replace_batched(edit, node, node.args[0], turned)


def _replace_batched(edit: GraphEdit, node: Node, first: Any, second: Any) -> Node | None:
    one, two, result = shape_of(first), static_shape(second), shape_of(node)
    if one is None or two is None or result is None or len(two) != 2 or len(one) < 2:
        return None
    if not is_float(node):
        return None
    rows = as_written(one[:-1])
    if rows is None:
        return None
    count = -1 if -1 in rows else prod(rows)
    left = edit.emit(_aten.reshape.default, first, [1, count, two[0]])
    right = edit.emit(_aten.reshape.default, second, [1, *two])
    return edit.view(edit.emit(_aten.bmm.default, left, right), result)


@_rewrite("expand", "Leave out an expand before ops that broadcast", "expand.default")
def _expand(edit: GraphEdit, node: Node) -> Node | None:
    source, result = shape_of(node.args[0]), shape_of(node)
    if source is None or result is None or len(source) != len(result):
        return None
    for user in node.users:
        if str(user.target) not in _BROADCASTING or shape_of(user) != result:
            return None
        others = [input_node for input_node in user.all_input_nodes if input_node is not node]
        if not any(shape_of(other) == result for other in others):
            return None
    return node.args[0] if isinstance(node.args[0], Node) else None


_BROADCASTING = tuple(f"aten.{text}.Tensor" for text in ("add", "sub", "mul", "div"))


@_rewrite("hardsigmoid", "Write hardsigmoid as a clamp", "hardsigmoid.default")
def _hardsigmoid(edit: GraphEdit, node: Node) -> Node | None:
    moved = edit.emit(_aten.add.Tensor, node.args[0], 3.0)
    kept = edit.emit(_aten.clamp.default, moved, 0.0, 6.0)
    return edit.emit(_aten.div.Tensor, kept, 6.0)


@_rewrite("elu", "Write elu as relu and exp", "elu.default")
def _elu(edit: GraphEdit, node: Node) -> Node | None:
    alpha = argument(node, 1, "alpha", 1)
    if argument(node, 2, "scale", 1) != 1 or argument(node, 3, "input_scale", 1) != 1:
        return None
    above = edit.emit(_aten.relu.default, node.args[0])
    below = edit.emit(_aten.clamp.default, node.args[0], None, 0.0)
    grown = edit.emit(_aten.sub.Tensor, edit.emit(_aten.exp.default, below), 1.0)
    scaled = grown if alpha == 1 else edit.emit(_aten.mul.Tensor, grown, float(alpha))
    return edit.emit(_aten.add.Tensor, above, scaled)


@_rewrite("stack", "Write stack as views and cat", "stack.default")
def _stack(edit: GraphEdit, node: Node) -> Node | None:
    result, tensors = static_shape(node), node.args[0]
    if result is None or not isinstance(tensors, list | tuple) or not is_float(node):
        return None
    dim = int(argument(node, 1, "dim", 0)) % len(result)
    one = [*result[:dim], 1, *result[dim + 1 :]]
    rows = [edit.emit(_aten.reshape.default, tensor, one) for tensor in tensors]
    return edit.emit(_aten.cat.default, rows, dim)


@_rewrite(
    "split",
    "Write split and chunk as slices",
    *("split.Tensor", "chunk.default", "split_with_sizes.default", "split.sizes"),
)
def _split(edit: GraphEdit, node: Node) -> Node | None:
    source = static_shape(node.args[0])
    picks = list(node.users)
    if source is None or not all(pick.target is _getitem for pick in picks):
        return None
    dim = int(argument(node, 2, "dim", 0)) % len(source)
    starts, start = [], 0
    for value in node.meta["val"]:
        starts.append(start)
        start += value.shape[dim]
    for pick in picks:
        at = int(pick.args[1])  # type: ignore[arg-type]
        size = (static_shape(pick) or [])[dim]
        begin = starts[at]
        part = edit.emit(_aten.slice.Tensor, node.args[0], dim, begin, begin + size)
        GraphEdit(pick, edit.within).put(part)
    return node
