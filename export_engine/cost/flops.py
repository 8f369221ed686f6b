"""FLOPs of ops, as formulas of sizes.

Products of matrices, convolutions and attention count as in `torch.utils.flop_counter`: a
multiplication and an addition are two. Everything else is counted by a rule of its own: a pointwise
op is one for each element of its result, whatever it computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from math import log2

from export_engine.cost.amount import Amount, count_blocks
from export_engine.cost.einsum import read_einsum
from export_engine.cost.op_call import OpCall
from export_engine.record import Size

Rule = Callable[[OpCall], Amount | None]
"""Gives an op's FLOPs; None where its sizes are not known."""


def _times(*amounts: Amount | None) -> Amount | None:
    items = [amount for amount in amounts if amount is not None]
    if len(items) < len(amounts):
        return None
    return reduce(lambda one, other: one * other, items, Amount(1))


def _contraction(name: str, dim: int = -1) -> Rule:
    """Each element of the result is a sum over one dim of an argument."""

    def rule(call: OpCall) -> Amount | None:
        shape = call.shape(name)
        inner = call.size(shape[dim]) if shape else None
        return _times(Amount(2), call.elements(*call.results), inner)

    return rule


def _sum_of_products(call: OpCall) -> Amount | None:
    """Products of matrices that are added up."""
    one, other = call.shape("batch1"), call.shape("batch2")
    return _times(Amount(2), call.product(one), call.size(other[-1])) if one and other else None


def _rows_by_groups(call: OpCall) -> Amount | None:
    """Rows by the matrix of their group, as of an expert: each row is multiplied once."""
    tensors = [call.type_of(node).shape for node in call.inputs[:2]]
    if [len(shape) for shape in tensors] == [_MATRIX, _MATRIX]:
        return _times(Amount(2), call.product(tensors[0]), call.size(tensors[1][-1]))
    return _times(Amount(2), call.elements(*call.results), call.size(tensors[0][-1]))


def _convolution(call: OpCall) -> Amount | None:
    weight = call.shape("weight")
    if not weight:
        return None
    if call.value("transposed", False):
        return _transposition(call)
    return _times(Amount(2), call.elements(*call.results), call.product(weight[1:]))


def _transposition(call: OpCall) -> Amount | None:
    weight = call.shape("weight")
    amount = call.product(call.shape("input"))
    return _times(Amount(2), amount, call.product(weight[1:]) if weight else None)


def _convolution_backward(call: OpCall) -> Amount | None:
    """As torch counts it: a convolution for each of the gradients that are asked for."""
    items, weight, grad = (call.shape(name) for name in ("input", "weight", "grad_output"))
    mask = call.value("output_mask", [True, True, True])
    if not (items and weight and grad) or not isinstance(mask, list):
        return None
    points = call.product(items if call.value("transposed", False) else grad)
    total: Amount | None = Amount(0)
    if mask[0]:
        total = _plus(total, _times(Amount(2), points, call.product(weight[1:])))
    if mask[1]:
        channels = (items if not call.value("transposed", False) else grad)[1]
        kernel = call.product(weight[2:])
        total = _plus(total, _times(Amount(2), points, call.size(channels), kernel))
    return total


def _plus(one: Amount | None, other: Amount | None) -> Amount | None:
    return None if one is None or other is None else one + other


def _attention(call: OpCall) -> Amount | None:
    """Queries by keys, and the weights by values; causal attention is counted whole."""
    query, key, value = (call.shape(name) for name in ("query", "key", "value"))
    if not (query and key and value):
        return None
    pairs = _times(call.product(query[:-1]), call.size(key[-2]))
    inner = call.size(query[-1]), call.size(value[-1])
    if inner[0] is None or inner[1] is None:
        return None
    return _times(Amount(2), pairs, inner[0] + inner[1])


def _attention_backward(call: OpCall) -> Amount | None:
    """The weights again, and gradients of the weights, the values, the queries and the keys."""
    query, key, value = (call.shape(name) for name in ("query", "key", "value"))
    if not (query and key and value):
        return None
    pairs = _times(call.product(query[:-1]), call.size(key[-2]))
    one, other = call.size(query[-1]), call.size(value[-1])
    if one is None or other is None:
        return None
    return _times(Amount(2), pairs, one * 3 + other * 2)


def _flex_attention(call: OpCall) -> Amount | None:
    query, key, value = (call.shape(str(at)) for at in range(3))
    if not (query and key and value):
        return None
    one, other = call.size(query[-1]), call.size(value[-1])
    if one is None or other is None:
        return None
    return _times(Amount(2), call.product(query[:-1]), call.size(key[-2]), one + other)


def _einsum(call: OpCall) -> Amount | None:
    """Two operands at a time from the left, as torch contracts them."""
    contraction = read_einsum(call)
    if len(call.nodes("tensors")) == 1:
        return _of_input(1)(call)
    if contraction is None:
        return None
    if not any(step.is_sum for step in contraction.steps()):
        return call.elements(*call.results)
    total = Amount(0)
    for sizes in contraction.sizes_per_product():
        product = call.product(sizes)
        if product is None:
            return None
        total = total + product * 2
    return total


def _recurrent(call: OpCall) -> Amount | None:
    """Layers of an LSTM, GRU or RNN: each step multiplies by each of the weights."""
    items = call.shape("input")
    steps = call.product(items[:-1]) if items else None
    shapes = [call.type_of(node).shape for node in call.nodes("params")]
    weights = [call.product(shape) for shape in shapes if len(shape) == _MATRIX]
    if steps is None or not weights:
        return None
    total = Amount(0)
    for weight in weights:
        if weight is None:
            return None
        total = total + steps * weight * 2
    return total


def _cell(call: OpCall) -> Amount | None:
    """One step of a recurrent layer: the input and the state by their weights."""
    states = call.type("hx") or next((call.type_of(node) for node in call.nodes("hx")), None)
    inputs = (call.shape("input"), states.shape if states else None)
    total: Amount | None = Amount(0)
    for shape, name in zip(inputs, ("w_ih", "w_hh"), strict=True):
        weight = call.shape(name)
        rows = call.product(shape[:-1]) if shape else None
        total = _plus(total, _times(Amount(2), rows, call.product(weight) if weight else None))
    return total


def _tensordot(call: OpCall) -> Amount | None:
    shape, dims = call.shape("self"), call.value("dims_self")
    if shape is None or not isinstance(dims, list):
        return None
    return _times(
        Amount(2), call.elements(*call.results), call.product([shape[dim] for dim in dims])
    )


def _square(per_element: int, divisor: int = 1) -> Rule:
    """For square matrices: so many times the side, for each element, divided and rounded up."""

    def rule(call: OpCall) -> Amount | None:
        shape = call.shape("A") or call.shape("self")
        amount = _times(Amount(per_element), call.product([*shape, shape[-1]])) if shape else None
        return amount if amount is None or divisor == 1 else count_blocks(amount, divisor)

    return rule


def _solve(call: OpCall) -> Amount | None:
    """A factorization, then two triangular systems for each column."""
    shape = call.shape("A")
    columns = (
        _times(Amount(2), call.elements(*call.results[:1]), call.size(shape[-1])) if shape else None
    )
    return _plus(_square(2, 3)(call), columns) if columns is not None else None


def _triangular(call: OpCall) -> Amount | None:
    shape = call.shape("self")
    return _times(call.elements(*call.results[:1]), call.size(shape[-1])) if shape else None


def _sampling(call: OpCall) -> Amount | None:
    """The 4 neighbours of a point, or the 8 in three dims, as interpolation counts them."""
    bilinear, cubic = (7, 15), 35
    mode = call.value("interpolation_mode", 0)
    volume = len(call.result.shape) > _POINTS
    count = {0: bilinear[volume], 1: 0}.get(mode, cubic)
    return _times(Amount(count), call.elements(*call.results[:1]))


def _fourier(call: OpCall) -> Amount | None:
    """5 n log2 n for each transform of n complex numbers, half of it for real ones."""
    name = call.name.removeprefix("aten.fft_")
    inverse_of_real = name.startswith(("irfft", "hfft"))
    whole = call.result if inverse_of_real else call.type_of(call.inputs[0])
    dims = call.value("dim", None)
    if dims is None:
        rank = len(whole.shape)
        dims = [-1] if name.endswith("fft") else [-2, -1] if name.endswith("2") else [*range(rank)]
    dims = [dims] if isinstance(dims, int) else dims
    return _transforms(
        call, whole.shape, [whole.shape[dim] for dim in dims], "r" in name or "h" in name
    )


def _transforms(call: OpCall, shape: list[Size], sides: list[Size], is_real: bool) -> Amount | None:
    length = 1
    for size in sides:
        if not isinstance(size, int):  # a logarithm is not a formula of sizes
            return None
        length *= size
    count = round((2.5 if is_real else 5) * length * log2(length)) if length > 1 else 0
    points = call.product(shape)
    return None if points is None else count_blocks(points * count, max(length, 1))


def _short_time_fourier(call: OpCall) -> Amount | None:
    """A window and a transform for each frame."""
    length, shape = call.value("n_fft"), call.result.shape
    if not isinstance(length, int) or not shape:
        return None
    frames = call.product([*shape[:-2], shape[-1]])
    transform = round(2.5 * length * log2(length)) if length > 1 else 0
    return _times(Amount(transform + length), frames)


def is_of_vectors(call: OpCall) -> bool:
    """Whether a product is none of matrices, so that torch's counter passes it by."""
    if call.name == "aten.einsum":
        contraction = read_einsum(call)
        return contraction is None or not any(step.is_sum for step in contraction.steps())
    other = call.shape("other") if call.name == "aten.matmul" else None
    return other is not None and len(other) == 1


_MATRIX, _POINTS = 2, 4


def _of_result(count: int) -> Rule:
    """So many for each element of the result."""
    return lambda call: _times(Amount(count), call.elements(*call.results[:1]))


def _of_input(count: int) -> Rule:
    """So many for each element of the first tensor that it reads."""

    def rule(call: OpCall) -> Amount | None:
        tensors = [
            value_type for node in call.inputs for value_type in call.tensors_of(call.type_of(node))
        ]
        return _times(Amount(count), call.elements(*tensors[:1]))

    return rule


def _distances(call: OpCall) -> Amount | None:
    """A difference, its power and its sum for each element of both rows."""
    shape = call.shape("x1")
    inner = call.size(shape[-1]) if shape else None
    return _times(Amount(3), call.elements(*call.results[:1]), inner)


def _bilinear(call: OpCall) -> Amount | None:
    weight = call.shape("weight")
    inner = call.product(weight[1:]) if weight else None
    return _times(Amount(2), call.elements(*call.results[:1]), inner)


def _bags(call: OpCall) -> Amount | None:
    """One for each element of each row that is looked up; two where it is weighted."""
    rows, table = call.shape("indices"), call.shape("weight")
    if rows is None or not table:
        return None
    weighted = call.type("per_sample_weights") is not None
    return _times(Amount(2 if weighted else 1), call.product(rows), call.size(table[-1]))


def _pooling(call: OpCall) -> Amount | None:
    """One for each element of each window."""
    kernel = call.value("kernel_size")
    dims = 1 if "1d" in call.name else 3 if "3d" in call.name else 2
    sizes = [kernel] * dims if isinstance(kernel, int) else kernel
    if not isinstance(sizes, list) or not all(isinstance(size, int) for size in sizes):
        return None
    sizes = sizes * dims if len(sizes) == 1 else sizes
    return _times(call.elements(*call.results[:1]), call.product(list(sizes)))


def _split(names: str) -> list[str]:
    return [f"aten.{name}" for name in names.split()]


_DECOMPOSED = (
    "quantize_per_tensor",
    "quantize_per_channel",
    "dequantize_per_tensor",
    "dequantize_per_channel",
)


def _name_rules(names: str, rule: Rule) -> Iterable[tuple[str, Rule]]:
    return ((name, rule) for name in _split(names))


COUNTED_BY_TORCH: dict[str, Rule] = dict(
    [
        *_name_rules("mm bmm matmul inner _scaled_mm", _contraction("self")),
        *_name_rules("addmm", _contraction("mat1")),
        *_name_rules("baddbmm", _contraction("batch1")),
        *_name_rules("addbmm", _sum_of_products),
        *_name_rules("linear", _contraction("input")),
        *_name_rules("convolution _convolution conv1d conv2d conv3d", _convolution),
        *_name_rules("convolution_backward", _convolution_backward),
        *_name_rules("conv_transpose1d conv_transpose2d conv_transpose3d", _transposition),
        *_name_rules("scaled_dot_product_attention", _attention),
        *_name_rules("_scaled_dot_product_flash_attention", _attention),
        *_name_rules("_scaled_dot_product_flash_attention_backward", _attention_backward),
        *_name_rules("_scaled_dot_product_efficient_attention_backward", _attention_backward),
        *_name_rules("_scaled_dot_product_cudnn_attention_backward", _attention_backward),
        *_name_rules("_scaled_dot_product_efficient_attention", _attention),
        *_name_rules("_scaled_dot_product_cudnn_attention", _attention),
        *_name_rules("_scaled_dot_product_fused_attention_overrideable", _attention),
        *_name_rules("einsum", _einsum),
        *_name_rules("lstm", _recurrent),
        *_name_rules("gru", _recurrent),
        *_name_rules("rnn_tanh rnn_relu", _recurrent),
        *_name_rules("lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell", _cell),
        *_name_rules("linalg_matmul", _contraction("self")),
        *_name_rules("tensordot", _tensordot),
        ("higher_order.flex_attention", _flex_attention),
    ]
)
"""Ops that come down to products of matrices, which torch counts: two for each multiply-add."""

COUNTED_HERE: dict[str, Rule] = dict(
    [
        *_name_rules("mv dot vdot _int_mm", _contraction("self")),
        *_name_rules("addmv", _contraction("mat")),
        *_name_rules("_grouped_mm", _rows_by_groups),
        ("transformers.grouped_mm_fallback", _rows_by_groups),
        *((f"quantized_decomposed.{name}", _of_result(1)) for name in _DECOMPOSED),
        *_name_rules("histc bincount cummax cummin nanmean", _of_input(1)),
        *_name_rules("linalg_vecdot", _of_input(2)),
        *_name_rules("grid_sampler grid_sampler_2d grid_sampler_3d", _sampling),
        *_name_rules("fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft", _fourier),
        *_name_rules("fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_fftn fft_ifftn", _fourier),
        *_name_rules("fft_rfftn fft_irfftn", _fourier),
        *_name_rules("stft", _short_time_fourier),
        *_name_rules("linalg_inv inverse linalg_inv_ex", _square(2)),
        *_name_rules("linalg_cholesky linalg_cholesky_ex cholesky", _square(1, 3)),
        *_name_rules("linalg_det det linalg_lu_factor linalg_slogdet", _square(2, 3)),
        *_name_rules("linalg_solve linalg_solve_ex", _solve),
        *_name_rules("linalg_solve_triangular", _triangular),
        *_name_rules("cdist _cdist_forward", _distances),
        *_name_rules("bilinear", _bilinear),
        *_name_rules("_scaled_dot_product_flash_attention_for_cpu", _attention),
        *_name_rules("_scaled_dot_product_flash_attention_for_cpu_backward", _attention_backward),
        *_name_rules("softmax _softmax log_softmax _log_softmax _safe_softmax", _of_result(5)),
        *_name_rules("layer_norm native_layer_norm group_norm native_group_norm", _of_result(8)),
        *_name_rules("batch_norm _native_batch_norm_legit_no_training", _of_result(4)),
        *_name_rules("_native_batch_norm_legit native_batch_norm instance_norm", _of_result(8)),
        *_name_rules("_softmax_backward_data _log_softmax_backward_data", _of_result(4)),
        *_name_rules("native_layer_norm_backward native_group_norm_backward", _of_input(12)),
        *_name_rules("native_batch_norm_backward embedding_dense_backward", _of_input(8)),
        *_name_rules("mse_loss mse_loss_backward l1_loss smooth_l1_loss huber_loss", _of_input(3)),
        *_name_rules("cross_entropy_loss binary_cross_entropy kl_div", _of_input(5)),
        *_name_rules("binary_cross_entropy_with_logits", _of_input(5)),
        *_name_rules("soft_margin_loss hinge_embedding_loss poisson_nll_loss", _of_input(5)),
        *_name_rules("nll_loss nll_loss_forward nll_loss2d_forward nll_loss_nd", _of_input(1)),
        *_name_rules("nll_loss_backward nll_loss2d_backward", _of_result(1)),
        *_name_rules("rms_norm _fused_rms_norm", _of_result(4)),
        *_name_rules("sum mean prod amax amin max min aminmax argmax argmin any all", _of_input(1)),
        *_name_rules("cumsum cumprod logcumsumexp nansum count_nonzero", _of_input(1)),
        *_name_rules("trace dist", _of_input(1)),
        *_name_rules("var var_mean std std_mean norm linalg_vector_norm logsumexp", _of_input(3)),
        *_name_rules("avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d", _pooling),
        *_name_rules("max_pool2d_with_indices max_pool3d_with_indices", _pooling),
        *_name_rules("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", _of_input(1)),
        *_name_rules("_adaptive_avg_pool2d _adaptive_avg_pool3d", _of_input(1)),
        *_name_rules("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", _of_input(1)),
        *_name_rules("upsample_bilinear2d upsample_linear1d", _of_result(7)),
        *_name_rules("upsample_trilinear3d upsample_bicubic2d", _of_result(35)),
        *_name_rules("cosine_similarity pairwise_distance", _of_input(5)),
        *_name_rules("glu gelu silu mish hardswish prelu rrelu", _of_result(1)),
        *_name_rules("scatter_add index_add scatter_reduce index_reduce", _of_input(1)),
        *_name_rules("embedding_bag", _bags),
        *_name_rules("cross linalg_cross quantile nanquantile", _of_result(3)),
        *_name_rules("addr", _of_result(2)),
        *_name_rules("clamp clip where relu6 hardtanh logit lerp addcmul addcdiv", _of_result(1)),
        *_name_rules(
            "floor_divide true_divide divide multiply subtract rsub square", _of_result(1)
        ),
        *_name_rules("float_power isclose isfinite isinf isreal negative absolute", _of_result(1)),
        *_name_rules("outer ger diff __and__ __or__ __xor__ __lshift__ __rshift__", _of_result(1)),
    ]
)
"""Ops with a rule of this project's: `docs` lists the FLOPs for each element."""

POINTWISE = frozenset(
    _split(
        "abs arccos arccosh arcsin arcsinh arctan arctan2 arctanh complex copysign dequantize eq "
        "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine fix ge gcd greater "
        "greater_equal gt heaviside lcm le less less_equal log_sigmoid lt masked_fill ne not_equal "
        "polar quantize_per_channel quantize_per_tensor special_digamma special_erf special_erfc "
        "special_erfinv special_exp2 special_expit special_expm1 special_gammainc "
        "special_gammaincc special_gammaln special_i0 special_log1p special_logit "
        "special_multigammaln special_ndtr "
        "special_polygamma special_psi special_round special_sinc special_xlogy threshold xlogy "
        "bartlett_window blackman_window hamming_window hann_window kaiser_window"
    )
)
"""Pointwise ops and forms of them without torch's tag."""


MOVES = frozenset(
    _split(
        "argwhere as_strided_scatter cartesian_prod cauchy column_stack combinations detach_copy "
        "diag diag_embed diagflat diagonal_copy dstack exponential fill_diagonal fliplr flipud "
        "geometric index_fill kthvalue lift log_normal median mode msort multinomial nanmedian "
        "native_channel_shuffle nonzero_static normal normal_functional pad_sequence poisson put "
        "randint_like random range reflection_pad3d replication_pad3d resize row_stack uniform "
        "unfold_copy unique_dim unsafe_chunk unsafe_split unsafe_split_with_sizes "
        "fft_fftshift fft_ifftshift fft_fftfreq fft_rfftfreq "
        "_local_scalar_dense _to_copy alias_copy alpha_dropout arange argsort as_strided_copy "
        "bernoulli block_diag broadcast_tensors bucketize cat channel_shuffle clone col2im concat "
        "concatenate constant_pad_nd contiguous copy detach diagonal_scatter dropout "
        "embedding empty empty_like empty_permuted empty_strided expand_as "
        "expand_copy eye feature_dropout fill flatten flip full full_like gather hstack "
        "im2col index index_copy index_put index_select item lift_fresh "
        "lift_fresh_copy linspace masked_scatter masked_select meshgrid narrow_copy "
        "native_dropout new_empty new_empty_strided new_full new_ones new_zeros nonzero "
        "one_hot ones ones_like pad permute_copy pixel_shuffle pixel_unshuffle rand rand_like "
        "randint randn randn_like randperm reflection_pad1d reflection_pad2d repeat "
        "repeat_interleave replication_pad1d replication_pad2d reshape roll rot90 "
        "scalar_tensor scatter searchsorted select_copy select_scatter slice_copy "
        "slice_scatter sort split_copy split_with_sizes_copy squeeze_copy stack t_copy take "
        "take_along_dim tensor tile to topk transpose_copy tril tril_indices triu "
        "triu_indices type_as unbind_copy unfold unique_consecutive unsqueeze_copy "
        "upsample_nearest1d upsample_nearest2d upsample_nearest3d view_copy vstack zero "
        "zeros zeros_like"
    )
)
"""Ops that move, make or order values, and compute none: 0 FLOPs, and bytes."""
