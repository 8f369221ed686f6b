"""Memory that an op of a program allocates inside, and frees before it ends.

As torch's kernels on a CPU do; an op without a rule here is taken to allocate nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from export_engine.cost.amount import Amount
from export_engine.cost.op_call import OpCall, width_of
from export_engine.record import Size, ValueType


def scratch_of(call: OpCall) -> Amount | None:
    """Bytes that an op allocates inside; None for none that is known."""
    rule = _RULES.get(call.name)
    return None if rule is None else rule(call)


def _matmul(call: OpCall) -> Amount | None:
    """`matmul` folds all dims but the last two into one, and copies what is not laid out so."""
    operands = [call.type(name) for name in ("self", "other")]
    batched = [
        operand for operand in operands if operand is not None and len(operand.shape) > _MATRIX
    ]
    if len(batched) < len(operands):
        return None
    copies = [
        value_type
        for value_type in batched
        if not _folds(call, value_type, len(value_type.shape) - _MATRIX)
    ]
    return call.bytes(*copies) if copies else None


def _folds(call: OpCall, value: ValueType, count: int) -> bool:
    """Whether the first so many dims can be read as one without a copy."""
    return all(_follows(call, value.shape, value.stride, dim) for dim in range(count - 1))


def _follows(call: OpCall, shape: Sequence[Size], stride: Sequence[Size], dim: int) -> bool:
    """Whether a step along a dim is as long as all of the next one."""
    inner, step, outer = (
        call.size(shape[dim + 1]),
        call.size(stride[dim + 1]),
        call.size(stride[dim]),
    )
    if call.size(shape[dim]) == 1:
        return True
    return inner is not None and step is not None and outer == inner * step


def _rows(call: OpCall) -> Amount | None:
    """A mean and a deviation for each row that is normalized."""
    value_type, dims = call.type("input"), call.value("normalized_shape")
    width = width_of(value_type.dtype) if value_type is not None else None
    if value_type is None or width is None or not isinstance(dims, list):
        return None
    rows = call.product(value_type.shape[: len(value_type.shape) - len(dims)])
    return None if rows is None else rows * (2 * width)


def _indices(call: OpCall) -> Amount | None:
    """Max pooling keeps where each maximum was, as int64."""
    count = call.elements(*call.results[:1])
    return None if count is None else count * 8


def _attention(call: OpCall) -> Amount | None:
    """One number for each query: the logarithm of its sum of exponentials, as float32."""
    query = call.shape("query")
    rows = call.product(query[:-1]) if query else None
    return None if rows is None else rows * 4


_MATRIX = 2
_RULES = {
    "aten.matmul": _matmul,
    "aten.layer_norm": _rows,
    "aten.max_pool2d": _indices,
    "aten.max_pool3d": _indices,
    "aten.scaled_dot_product_attention": _attention,
}
