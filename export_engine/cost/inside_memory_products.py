"""Memory inside of products of matrices on a CPU: copies that lay dims out, blocks of oneDNN."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from export_engine.cost.amount import Amount, count_blocks, largest, smallest
from export_engine.cost.einsum import read_einsum
from export_engine.cost.op_call import OpCall, width_of
from export_engine.record import Size, ValueType

_MATRIX = 2


def product_scratch(call: OpCall) -> Amount | None:
    """For a product of matrices that copies neither operand: the blocks of oneDNN."""
    matrix = next((call.type(name) for name in _LEFT if call.type(name) is not None), None)
    result = call.results[0] if call.results else None
    if matrix is None or result is None:
        return None
    if call.name == "aten.linear":
        rows = call.product(result.shape[:-1])
    else:
        rows = call.size(result.shape[-2]) if len(result.shape) >= _MATRIX else None
    inner, columns = call.size(matrix.shape[-1]), call.size(result.shape[-1])
    operands = [matrix, call.type("mat2") or call.type("batch2")]
    if call.name == "aten.linear":
        copies = [None if _is_of_rows(call, matrix) else call.bytes(matrix)]
    else:
        copies = [_copy_of_batch(call, value) for value in operands if value is not None]
    return _add(*copies, find_blocks(matrix.dtype, rows, inner, columns))


def _is_of_rows(call: OpCall, value: ValueType) -> bool:
    """Whether all dims but the last can be read as rows, so that `linear` copies nothing."""
    if len(value.shape) == _MATRIX and value.dtype != "bfloat16":
        return any(call.size(stride) == 1 for stride in value.stride)
    return not value.stride or (
        call.size(value.stride[-1]) == 1 and _folds(call, value, len(value.shape) - 1)
    )


def _copy_of_batch(call: OpCall, value: ValueType) -> Amount | None:
    """oneDNN's product of a batch, in bfloat16, copies matrices that are not one after another."""
    if value.dtype != "bfloat16" or len(value.shape) <= _MATRIX or not value.stride:
        return None
    is_laid_out = call.is_dense(value) or call.is_dense(value, (0, 2, 1))
    return None if is_laid_out else call.bytes(value)


def find_blocks(
    dtype: str, rows: Amount | None, depth: Amount | None, columns: Amount | None
) -> Amount | None:
    """The blocks of one thread in oneDNN's bfloat16 product, on a CPU with AVX-512.

    They hold 64 columns of the right operand, and their sums in float32, of at most 256 rows.
    """
    if dtype != "bfloat16" or rows is None or depth is None or columns is None:
        return None
    depth = smallest(count_blocks(depth, 32) * 32, 512)
    rows = count_blocks(rows, largest(count_blocks(rows, 256), 1))
    return rows * smallest(columns, 64) * 4 + depth * 128 + 1024


def matmul_scratch(call: OpCall) -> Amount | None:
    """`matmul` folds all dims but the last two into one, and copies what is not laid out so."""
    operands = [call.type("self"), call.type("other") or call.type("vec")]
    one, other = operands
    result = call.results[0] if call.results else None
    if one is None or other is None or result is None:
        return None
    if min(len(one.shape), len(other.shape)) < _MATRIX:  # by a vector
        rows, depth = call.product(result.shape), call.size(one.shape[-1])
        return find_blocks(one.dtype, rows, depth, Amount(1)) if result.shape else None
    batch = result.shape[:-_MATRIX]
    copies = [_copy_of(call, item, batch) for item in (one, other) if len(batch) > 1]
    rows = call.size(result.shape[-2])
    if len(other.shape) == _MATRIX < len(one.shape) and _folds(call, one, len(one.shape) - 1):
        copies, rows = [], call.product(result.shape[:-1])
    inner, columns = call.size(one.shape[-1]), call.size(result.shape[-1])
    return _add(*copies, find_blocks(one.dtype, rows, inner, columns))


def _copy_of(call: OpCall, value: ValueType, batch: Sequence[Size]) -> Amount | None:
    """Bytes of an operand that is copied so that its batch dims are one."""
    own, width = value.shape[:-_MATRIX], width_of(value.dtype)
    if all(call.size(size) == 1 for size in own):
        return None  # expanded: all steps are 0
    if [str(size) for size in own] == [str(size) for size in batch]:
        return None if _folds(call, value, len(own)) else call.bytes(value)
    count = call.product([*batch, *value.shape[-_MATRIX:]])
    return None if count is None or width is None else count * width


def _folds(call: OpCall, value: ValueType, count: int) -> bool:
    """Whether the first so many dims can be read as one without a copy."""
    return _merges(call, value, range(count))


def _merges(call: OpCall, value: ValueType, dims: Sequence[int]) -> bool:
    """Whether dims, in this order, can be read as one: each step is as long as all of the next."""
    kept = [dim for dim in dims if call.size(value.shape[dim]) != 1]
    for outer, inner in pairwise(kept):
        size, step = call.size(value.shape[inner]), call.size(value.stride[inner])
        if size is None or step is None or call.size(value.stride[outer]) != size * step:
            return False
    return True


def einsum_scratch(call: OpCall) -> Amount | None:
    """Operands whose dims do not merge are copied; the product of the step before is kept."""
    contraction = read_einsum(call)
    types = [call.type_of(node) for node in call.nodes("tensors")]
    width = width_of(types[0].dtype) if types else None
    if contraction is None or len(types) < _MATRIX or width is None:
        return None
    steps = contraction.steps()
    held, most, layout = Amount(0), Amount(0), ""
    for at, step in enumerate(steps):
        parts = [held]
        if step.is_sum:
            sizes = (contraction.sizes_of(part) for part in (step.rows, step.summed, step.columns))
            parts.append(find_blocks(types[0].dtype, *map(call.product, sizes)) or Amount(0))
            operands = (
                (step.left, step.rows, layout or types[at]),
                (step.right, step.columns, types[at + 1]),
            )
            for letters, own, source in operands:
                groups = [
                    "".join(letter for letter in group if letter in contraction.sizes)
                    for group in (step.batch, own, step.summed)
                ]
                if not all(_is_one_dim(call, source, letters, group) for group in groups):
                    copied = call.product(contraction.sizes_of(letters))
                    parts.append((copied or Amount(0)) * width)
        product = call.product(contraction.sizes_of(step.kept))
        layout, held = step.layout, (product or Amount(0)) * width
        if at < len(steps) - 1:  # the result is not made yet
            parts.append(held - (call.bytes(*call.results) or 0))
        most = largest(most, sum(parts, Amount(0)))
    return most


def _is_one_dim(call: OpCall, source: ValueType | str, letters: str, group: str) -> bool:
    """Whether a group of an operand's dims can be read as one without a copy.

    Args:
        call: of einsum.
        source: the operand; of a product, its letters in the order in which they are in memory.
        letters: its dims.
        group: some of them.
    """
    if isinstance(source, str):
        return group in source
    return _merges(call, source, [letters.index(letter) for letter in group])


def _add(*parts: Amount | None) -> Amount | None:
    amounts = [part for part in parts if part is not None]
    return sum(amounts, Amount(0)) if amounts else None


_LEFT = ("input", "mat1", "batch1", "self")
