"""Memory that an op of a program allocates inside, and frees before it ends.

As torch's kernels on a CPU do with one thread: copies that composite ops make, blocks that oneDNN
reorders, workspaces. Read in `aten/src/ATen/native`, and measured with the profiler on torch 2.13.
An op without a rule is taken to allocate nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from export_engine.cost.amount import Amount, is_at_least, largest
from export_engine.cost.inside_memory_attention import attention_scratch, flex_scratch
from export_engine.cost.inside_memory_layers import (
    cell_scratch,
    convolution_scratch,
    recurrent_scratch,
)
from export_engine.cost.inside_memory_products import (
    einsum_scratch,
    find_blocks,
    matmul_scratch,
    product_scratch,
)
from export_engine.cost.op_call import OpCall, width_of
from export_engine.record import ValueType

Rule = Callable[[OpCall], Amount | None]


def inside_memory(call: OpCall) -> Amount | None:
    """Bytes that an op allocates inside; None for none that is known."""
    rule = _RULES.get(call.target.name if call.target.kind == "higher_order" else call.name)
    inside, copies = rule(call) if rule is not None else None, _find_copies(call)
    return inside if copies is None else copies + (inside or 0)


def _find_copies(call: OpCall) -> Amount | None:
    """Copies of inputs that the op's kernel wants without gaps, in the order of their dims.

    Kernels for images also take the channels last.
    """
    if call.name == "aten.pad" and call.value("mode", "constant") == "constant":
        return None
    names = _DENSE.get(call.name, ())
    values = [value for value in map(call.type, names) if value is not None and value.stride]
    copied = [value for value in values if not _is_laid_out(call, value)]
    return call.bytes(*copied) if copied else None


def _is_laid_out(call: OpCall, value: ValueType) -> bool:
    return call.is_dense(value) or (
        call.name in _IMAGES
        and len(value.shape) == len(_CHANNELS_LAST)
        and call.is_dense(value, _CHANNELS_LAST)
    )


class _Input(NamedTuple):
    """The first tensor that an op reads."""

    type: ValueType
    elements: Amount
    width: int
    """Bytes of an element."""

    @property
    def is_half(self) -> bool:
        return self.width < _FLOAT and "float" in self.type.dtype


def _input_of(call: OpCall) -> _Input | None:
    tensors = [
        value_type for node in call.inputs for value_type in call.tensors_of(call.type_of(node))
    ]
    if not tensors:
        return None
    elements, width = call.elements(tensors[0]), width_of(tensors[0].dtype)
    return None if elements is None or width is None else _Input(tensors[0], elements, width)


def _copies(count: int) -> Rule:
    """So many tensors of the size of the first input."""

    def rule(call: OpCall) -> Amount | None:
        first = _input_of(call)
        return None if first is None else first.elements * (first.width * count)

    return rule


def _loss(count: int) -> Rule:
    """Tensors of the input's size, and the float32 copy of one whose mean is taken."""

    def rule(call: OpCall) -> Amount | None:
        first = _input_of(call)
        if first is None:
            return None
        return first.elements * (first.width * count + (_FLOAT if first.is_half else 0))

    return rule


def _mean(call: OpCall) -> Amount | None:
    """A mean of half precision is taken in float32: of a copy, into another result."""
    first, count = _input_of(call), call.elements(*call.results[:1])
    if first is None or count is None or not first.is_half:
        return None
    result = width_of(call.result.dtype)
    return first.elements * _FLOAT + (0 if result == _FLOAT else count * _FLOAT)


def _adaptive_mean(call: OpCall) -> Amount | None:
    """Adaptive pooling to one value is a mean; to several it has a kernel."""
    size = call.value("output_size", [])
    is_mean = set(size if isinstance(size, list) else [size]) == {1}
    return _mean(call) if is_mean else None


def _cast(call: OpCall) -> Amount | None:
    """A reduction in another dtype reads a copy in it; of integers and bools, in int64."""
    first = _input_of(call)
    result = width_of(call.result.dtype)
    if first is None or result is None or first.type.dtype == call.result.dtype:
        return None
    return first.elements * result


def _rows(call: OpCall) -> Amount | None:
    """How many rows are normalized."""
    value_type, dims = call.type("input"), call.value("normalized_shape")
    if value_type is None or not isinstance(dims, list):
        return None
    return call.product(value_type.shape[: len(value_type.shape) - len(dims)])


def _layer_norm(call: OpCall) -> Amount | None:
    """A mean and a deviation for each row."""
    first, rows = _input_of(call), _rows(call)
    return None if first is None or rows is None else rows * (2 * first.width)


def _rms_norm(call: OpCall) -> Amount | None:
    """A composite op: the square, then the product, and half precision is computed in float32."""
    first, rows = _input_of(call), _rows(call)
    if first is None or rows is None:
        return None
    weighted = call.type("weight") is not None
    if not first.is_half:
        return (first.elements if weighted else rows) * first.width + rows * first.width
    copies = 3 if weighted else 2
    return first.elements * (copies * _FLOAT - first.width) + rows * (_FLOAT * (5 - copies) // 2)


def _log_sum(call: OpCall) -> Amount | None:
    """The input less its largest value, and that value."""
    first, count = _input_of(call), call.elements(*call.results[:1])
    if first is None or count is None:
        return None
    return (first.elements + count) * first.width


def _indices(call: OpCall) -> Amount | None:
    """Max pooling keeps where each maximum was, as int64."""
    count = call.elements(*call.results[:1])
    return None if count is None else count * _INDEX


def _resample(call: OpCall) -> Amount | None:
    """Input and result once more, with the channels last."""
    name = "self" if call.type("self") is not None else "input"
    value_type = call.type(name)
    if value_type is None or call.size(value_type.shape[1]) == 1:
        return None
    return call.bytes(value_type, *call.results[:1])


def _mask_indices(call: OpCall) -> Amount | None:
    """A mask is turned into as many indices as it has dims."""
    masks = [call.type_of(node) for node in call.nodes("indices")]
    masks = [mask for mask in masks if mask.dtype == "bool"]
    if len(masks) != 1 or not call.result.shape:
        return None
    rows = call.size(call.result.shape[0])
    return None if rows is None else rows * (_INDEX * len(masks[0].shape))


def _sorting(values: int, indices: int) -> Rule:
    """Copies of the input, as many indices, and the order of one row."""

    def rule(call: OpCall) -> Amount | None:
        first = _input_of(call)
        dim = call.value("dim", -1)
        if first is None or not first.type.shape:
            return None
        row = call.size(first.type.shape[dim if isinstance(dim, int) else -1])
        copies = first.elements * (first.width * values + _INDEX * indices)
        return None if row is None else copies + row * _INDEX

    return rule


def _median(call: OpCall) -> Amount | None:
    """The median of all elements is taken of a copy."""
    return None if call.text("dim") else _copies(1)(call)


def _quantize(call: OpCall) -> Amount | None:
    """Two steps of the arithmetic in float32."""
    first = _input_of(call)
    return None if first is None else first.elements * (2 * _FLOAT - 1)


def _dequantize(call: OpCall) -> Amount | None:
    """The difference from the zero point, and the result."""
    return call.bytes(call.result)


def _frames(call: OpCall) -> Amount | None:
    """The windows of a short-time Fourier transform."""
    first, length, shape = _input_of(call), call.value("n_fft"), call.result.shape
    if first is None or not isinstance(length, int) or not shape:
        return None
    return call.product([*shape[:-2], shape[-1], length * first.width])


def _magnitude(call: OpCall) -> Amount | None:
    """The magnitude of complex numbers is complex at first."""
    first = _input_of(call)
    return first.elements * first.width if first and "complex" in first.type.dtype else None


def _bags(call: OpCall) -> Amount | None:
    """A mean or a maximum keeps the bag of each row, and one count more is taken for them."""
    rows = call.elements(*call.results[1:2])
    return None if rows is None or not call.value("mode", 0) else (rows + 1) * _INDEX


def _sum_of_halves(call: OpCall) -> Amount | None:
    """What is added to in half precision is added to in float32."""
    first = _input_of(call)
    return first.elements * _FLOAT if first is not None and first.is_half else None


def _distances(call: OpCall) -> Amount | None:
    """From more than 25 rows on, distances are a product of copies that are two columns wider."""
    one, other = call.type("x1"), call.type("x2")
    if one is None or other is None or call.value("p", 2.0) != _EUCLIDEAN:
        return None
    width, total, most = width_of(one.dtype), Amount(0), Amount(0)
    for value_type in (one, other):
        inner, rows = call.size(value_type.shape[-1]), call.product(value_type.shape[:-1])
        own = call.size(value_type.shape[-2])
        if inner is None or rows is None or own is None or width is None:
            return None
        total, most = total + rows * (inner + 2) * width, largest(most, own)
    counts = [call.size(size) for size in (one.shape[-2], one.shape[-1], other.shape[-2])]
    blocks = find_blocks(one.dtype, *counts)
    return (total + (blocks or 0)) * is_at_least(most, 26)


def _of_names(names: str, rule: Rule) -> dict[str, Rule]:
    return {f"aten.{name}": rule for name in names.split()}


_FLOAT, _INDEX, _EUCLIDEAN = 4, 8, 2.0
_CHANNELS_LAST = (0, 2, 3, 1)
_IMAGES = frozenset(
    [
        *(f"aten.conv{form}{dims}d" for form in ("", "_transpose") for dims in (1, 2, 3)),
        *("aten.max_pool2d", "aten.avg_pool2d"),
    ]
)
_DENSE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_IMAGES, ("input", "self")),
    **dict.fromkeys((f"aten.{name}" for name in ("layer_norm", "rms_norm")), ("input",)),
    **dict.fromkeys((f"aten.{name}" for name in ("softmax", "log_softmax", "im2col")), ("self",)),
    **dict.fromkeys((f"aten.reflection_pad{dims}d" for dims in (1, 2, 3)), ("self",)),
    "aten.pad": ("self",),
    "aten.cdist": ("x1", "x2"),
}
"""Per op, the inputs that its kernel copies unless they are laid out as it wants."""
_RULES: dict[str, Rule] = {
    **_of_names("matmul mv", matmul_scratch),
    **_of_names("linear mm addmm bmm baddbmm", product_scratch),
    **_of_names("einsum", einsum_scratch),
    **_of_names("conv1d conv2d conv3d convolution", convolution_scratch),
    **_of_names("conv_transpose1d conv_transpose2d conv_transpose3d", convolution_scratch),
    **_of_names("lstm gru rnn_tanh rnn_relu", recurrent_scratch),
    **_of_names("scaled_dot_product_attention", attention_scratch),
    **_of_names("layer_norm", _layer_norm),
    **_of_names("rms_norm", _rms_norm),
    **_of_names("max_pool2d max_pool3d", _indices),
    **_of_names("mean", _mean),
    **_of_names("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", _adaptive_mean),
    **_of_names("softmax log_softmax sum cumsum cumprod prod nansum", _cast),
    **_of_names("logsumexp", _log_sum),
    **_of_names("cross_entropy_loss im2col", _copies(1)),
    **_of_names("sort msort", _sorting(0, 0)),
    **_of_names("argsort", _sorting(1, 0)),
    **_of_names("quantile nanquantile kthvalue", _sorting(1, 1)),
    **_of_names("median nanmedian", _median),
    **_of_names("stft", _frames),
    **_of_names("embedding_bag", _bags),
    **_of_names("abs", _magnitude),
    **_of_names("lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell", cell_scratch),
    "higher_order.flex_attention": flex_scratch,
    "quantized_decomposed.quantize_per_tensor": _quantize,
    "quantized_decomposed.quantize_per_channel": _quantize,
    "quantized_decomposed.dequantize_per_tensor": _dequantize,
    "quantized_decomposed.dequantize_per_channel": _dequantize,
    **_of_names("pairwise_distance", _copies(2)),
    **_of_names("cosine_similarity", _copies(3)),
    **_of_names("huber_loss", _loss(1)),
    **_of_names("mse_loss l1_loss smooth_l1_loss binary_cross_entropy_with_logits", _loss(2)),
    **_of_names("kl_div", _copies(3)),
    **_of_names("upsample_bilinear2d upsample_nearest2d", _resample),
    **_of_names("index", _mask_indices),
    **_of_names("cdist", _distances),
    **_of_names("scatter_add", _sum_of_halves),
}
