"""Memory inside of attention on a CPU: the fused kernel's blocks, or what the math path makes."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.cost.amount import Amount, count_blocks, is_at_least, largest, smallest
from export_engine.cost.op_call import OpCall, width_of
from export_engine.record import Size, ValueType


class _Attention(NamedTuple):
    """Sizes of one call."""

    query: Amount
    """Elements, as of the next three."""
    key: Amount
    value: Amount
    weights: Amount
    """Queries by keys."""
    rows: Amount
    """Queries of all heads."""
    width: int
    """Bytes of an element."""
    mask: Amount
    """Bytes of a mask that is made or cast."""


def attention_scratch(call: OpCall) -> Amount | None:
    """`scaled_dot_product_attention`; None where a size is not known."""
    types = [call.type(name) for name in ("query", "key", "value")]
    query, key, value = types
    if query is None or key is None or value is None or len(query.shape) < _MATRIX:
        return None
    sizes = _sizes(call, query, key, value)
    if sizes is None:
        return None
    if _is_fused(call, query, key, value):
        blocks = _flash_blocks(call, query, key)
        # One number for each query: the logarithm of its sum of exponentials, as float32.
        lines = sizes.rows * _FLOAT
        mask = sizes.mask if call.type("attn_mask") is not None else Amount(0)
        return None if blocks is None else lines + blocks + mask
    return _math(call, sizes, query, key, value)


def _is_fused(call: OpCall, query: ValueType, key: ValueType, value: ValueType) -> bool:
    """As `use_flash_attention_cpp` of `sdp_utils_cpp.cpp` decides for a run without gradients."""
    last = {str(item.shape[-1]) for item in (query, key, value)}
    ranks = {len(item.shape) for item in (query, key, value)}
    dense = all(not item.stride or item.stride[-1] == 1 for item in (query, key, value))
    return ranks == {4} and len(last) == 1 and dense and not call.value("dropout_p", 0.0)


def _flash_blocks(call: OpCall, query: ValueType, key: ValueType) -> Amount | None:
    """The buffers of one thread, as `cpu_flash_attention` of `FlashAttentionKernel.cpp` has them.

    By 512 keys, 32 queries; 64 from 192 on, and 256 from 768 on.
    """
    length, keys = call.size(query.shape[-2]), call.size(key.shape[-2])
    head, width = call.size(query.shape[-1]), width_of(query.dtype)
    if length is None or keys is None or head is None or width is None:
        return None
    rows = is_at_least(length, 192) * 32 + is_at_least(length, 768) * 192 + 32
    rows, columns = smallest(rows, length), smallest(keys, 512)
    blocks = rows * (columns + 2 + head) * max(width, _FLOAT)
    return blocks + rows * columns * width if width < _FLOAT else blocks


def _math(
    call: OpCall, sizes: _Attention, query: ValueType, key: ValueType, value: ValueType
) -> Amount | None:
    """Bytes that `_scaled_dot_product_attention_math` makes.

    Scaled queries and keys, weights before and after the softmax, a mask of what is finite. Half
    precision is computed in float32.
    """
    result = call.elements(*call.results[:1])
    if result is None:
        return None
    kept, repeated = sizes.mask, Amount(0)
    if call.value("enable_gqa", False) and str(query.shape[-3]) != str(key.shape[-3]):
        groups = _divide(call, query.shape[-3], key.shape[-3])
        repeated = (sizes.key + sizes.value) * groups if groups is not None else repeated
    halves = sizes.width < _FLOAT
    width = max(sizes.width, _FLOAT)
    if halves:
        kept = kept + (sizes.query + sizes.key + sizes.value) * _FLOAT
    kept = kept + (sizes.query + repeated) * width
    begin = sizes.key * width + sizes.weights * width
    middle = sizes.weights * (2 * width + 1)
    end = (sizes.weights + result) * (width + (sizes.width if halves else 0))
    return kept + largest(begin, middle, end) - result * sizes.width


def flex_scratch(call: OpCall) -> Amount | None:
    """`flex_attention` in eager: weights in three forms, and scaled queries and keys."""
    query, key = (call.type_of(node) for node in call.inputs[:2])
    rows, keys = call.product(query.shape[:-1]), call.size(key.shape[-2])
    copies, width = call.bytes(query, key), width_of(query.dtype)
    if rows is None or keys is None or copies is None or width is None:
        return None
    return rows * keys * (3 * max(width, _FLOAT)) + copies


def _sizes(call: OpCall, query: ValueType, key: ValueType, value: ValueType) -> _Attention | None:
    counts = [call.elements(item) for item in (query, key, value)]
    keys, rows = call.size(key.shape[-2]), call.product(query.shape[:-1])
    width = width_of(query.dtype)
    if keys is None or rows is None or width is None:
        return None
    mask: Amount | None = Amount(0)
    mask_type = call.type("attn_mask")
    if mask_type is not None and mask_type.dtype == "bool":
        mask = call.elements(mask_type)
    elif mask_type is None and call.value("is_causal", False) is True:
        mask = call.product([query.shape[-2], key.shape[-2]])
    if mask is None or any(count is None for count in counts):
        return None
    one, two, three = (count or Amount(0) for count in counts)
    return _Attention(one, two, three, rows * keys, rows, width, mask * width)


def _divide(call: OpCall, heads: Size, groups: Size) -> Amount | None:
    one, other = call.size(heads), call.size(groups)
    return None if one is None or other is None else count_blocks(one, other)


_MATRIX = 2
_FLOAT = 4
