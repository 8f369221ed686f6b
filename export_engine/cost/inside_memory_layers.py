"""Memory inside of convolutions and recurrent layers on a CPU."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.cost.amount import Amount, count_blocks, is_at_least, largest
from export_engine.cost.inside_memory_products import find_blocks
from export_engine.cost.op_call import OpCall, width_of
from export_engine.record import Size, ValueType

_FLOAT, _CHANNELS, _BLOCK, _FEW, _SMALL, _WINDOW, _SPACE = 4, 16, 4, 15, 20480, 3, 3
_SCRATCHPAD = 8216
"""Bytes that oneDNN asks for beside its blocks."""
_PAGE, _ALIGNMENT = 4096, 128
_BOOKED = 5 * _PAGE + 152
"""Bytes of the lists and masks of `brgconv_strided`, and what aligns them to pages."""


class _Convolution(NamedTuple):
    """A convolution of some rank; amounts in elements."""

    input: ValueType
    weight: ValueType
    result: Amount
    items: Amount
    kernel: Amount
    """Elements of the weight."""
    transposed: bool
    width: int
    """Bytes of an element."""

    @property
    def window(self) -> list[Size]:
        return self.weight.shape[2:]


def convolution_scratch(call: OpCall) -> Amount | None:
    """Bytes inside of a convolution: oneDNN's copies, or the columns of the kernels without it."""
    conv = _read(call)
    if conv is None or len(conv.input.shape) != len(conv.weight.shape):
        return None
    columns, blocks = _columns(call, conv), _onednn_blocks(call, conv)
    if conv.input.dtype == "bfloat16":
        return blocks
    if conv.input.dtype != "float32":
        return columns
    is_native = _is_native(call, conv)
    if is_native is None or columns is None or blocks is None:
        return None
    return columns * is_native + blocks * (Amount(1) - is_native)


def _read(call: OpCall) -> _Convolution | None:
    source, weight = call.type("input"), call.type("weight")
    if source is None or weight is None or not call.results:
        return None
    counts = [call.elements(item) for item in (call.results[0], source, weight)]
    width = width_of(source.dtype)
    if width is None or any(count is None for count in counts):
        return None
    result, items, kernel = (count or Amount(0) for count in counts)
    transposed = "transpose" in call.name or call.value("transposed", False) is True
    return _Convolution(source, weight, result, items, kernel, transposed, width)


def _is_native(call: OpCall, conv: _Convolution) -> Amount | None:
    """1 where torch does without oneDNN in float32, else 0.

    As `use_mkldnn` of `Convolution.cpp` decides with one thread: for a kernel of one, and for a
    small input that is one sample.
    """
    batch = call.size(conv.input.shape[0])
    count = call.product(conv.input.shape[:4])
    if batch is None or count is None:
        return None
    window = conv.window
    plain = all(_is_one(call.value(name, 1)) for name in ("stride", "dilation"))
    if plain and set(window[-2:]) == {1}:
        return Amount(1) - is_at_least(batch, _CHANNELS)
    wide = len(window) > 1 and all(isinstance(size, int) and size > _WINDOW for size in window[-2:])
    if call.value("groups", 1) != 1 or wide:
        return Amount(0)
    return (Amount(1) - is_at_least(batch, 2)) * (Amount(1) - is_at_least(count, _SMALL + 1))


def _columns(call: OpCall, conv: _Convolution) -> Amount | None:
    """The input once for each element of the window, as `slow_conv2d` unfolds it.

    Groups run one after the other, each on its part of the input, and their results are
    concatenated.
    """
    window = call.product(list(conv.window))
    points = conv.input.shape[2:] if conv.transposed else call.results[0].shape[2:]
    batch, groups = conv.input.shape[0], call.value("groups", 1)
    if conv.transposed and len(conv.window) == _SPACE:
        batch = 1
    channels = conv.weight.shape[1] if conv.transposed else conv.input.shape[1]
    columns, samples = call.product([batch, channels, *points]), call.size(batch)
    if window is None or columns is None or samples is None:
        return None
    columns = columns * window if window != 1 or conv.transposed else Amount(0)
    if not isinstance(groups, int) or groups == 1:
        whole = conv.transposed and len(conv.window) == _SPACE
        return (largest(columns, conv.items) if whole else columns) * conv.width
    if not conv.transposed:
        columns = count_blocks(columns, groups)
    part = count_blocks(conv.items, groups) * is_at_least(samples, 2)
    return largest(columns + part, conv.result) * conv.width


def _onednn_blocks(call: OpCall, conv: _Convolution) -> Amount | None:
    """Input, weight and result in blocks of 16 channels; then the result beside its blocks."""
    channels, filters = conv.input.shape[1], call.results[0].shape[1]
    if not isinstance(channels, int) or not isinstance(filters, int):
        return None
    has_planes = len(conv.window) > 1
    if has_planes and conv.input.stride and call.size(conv.input.stride[1]) == 1 and channels > 1:
        return _channels_last_blocks(conv)
    groups = call.value("groups", 1)
    if conv.transposed:
        return _count_transposed_blocks(call, conv, channels, filters)
    result = _pad(conv.result, filters, groups)
    items = _pad(conv.items, channels, groups) if channels > _FEW else Amount(0)
    kernel = conv.kernel
    if groups == 1:
        kernel = _pad(_pad(kernel, channels, 1) if channels > _FEW else kernel, filters, 1)
    begin = items + kernel + result - conv.result + _pointwise_blocks(call, conv)
    return largest(begin, result) * conv.width


def _channels_last_blocks(conv: _Convolution) -> Amount:
    """The result is made in place; of the weight there is a copy of that layout, and its blocks."""
    if conv.weight.shape[1] == 1 or conv.transposed:
        return conv.kernel * conv.width
    copies = 1 if set(conv.window) == {1} else 2
    return conv.kernel * (conv.width * copies) + _SCRATCHPAD


def _count_transposed_blocks(
    call: OpCall, conv: _Convolution, channels: int, filters: int
) -> Amount | None:
    """Bytes inside of a transposed convolution, which oneDNN computes as the gradient of another.

    One of three kernels does it, as `cpu_convolution_list` of oneDNN 3.12 orders them on AVX-512:
    `brgconv_strided`, the one on blocks of channels, and the one that unfolds. The first takes
    bfloat16 where the CPU has instructions for it, as is assumed here.
    """
    groups = call.value("groups", 1)
    strided, dilated = (not _is_one(call.value(name, 1)) for name in ("stride", "dilation"))
    if not isinstance(groups, int):
        return None
    own = channels // groups, filters // groups
    is_depthwise = groups > 1 and own == (1, 1)
    fits = groups == 1 or is_depthwise or not any(size % _BLOCK for size in own)
    if strided and not dilated and (groups == 1 or conv.width == _FLOAT):
        small = _CHANNELS // 2 if not fits or not _find_row_rest(call, conv) else _CHANNELS
        if groups == 1 or own[0] > small:
            return _count_strided_blocks(call, conv, channels, filters)
    has_bias = call.type("bias") is not None
    if not fits or (dilated and (strided or is_depthwise)):
        sums = conv.result * _FLOAT + _ALIGNMENT if has_bias else Amount(0)
        unfolded = _count_unfolded(call, conv, groups)
        return None if unfolded is None else largest(unfolded + sums, conv.result * conv.width)
    padded = 1 if is_depthwise else groups
    result = _pad(conv.result, filters, padded)
    kernel = _pad(conv.kernel, filters, padded)
    if not is_depthwise:
        kernel = _pad(kernel, channels, groups)
    begin = _pad(conv.items, channels, padded) + kernel + result - conv.result
    begin = (begin + _pointwise_blocks(call, conv)) * conv.width
    if has_bias:
        begin = begin + result * _FLOAT + _ALIGNMENT
    return largest(begin, result * conv.width)


def _count_strided_blocks(
    call: OpCall, conv: _Convolution, channels: int, filters: int
) -> Amount | None:
    """Input and result have their channels last, and there are buffers for one sample.

    As `init_scratchpad` of `jit_brgemm_conv_bwd_utils.cpp` books them: the input with zeros
    around it, and a row of the result that its stride does not divide. A bias is then added to
    sums beside the result.
    """
    buffer = Amount(channels)
    for at, window in enumerate(conv.window):
        points = call.size(conv.input.shape[at + 2])
        if points is None or not isinstance(window, int):
            return None
        step, zeros, more = _read_steps(call, at)
        least = window - 1 - zeros
        buffer = buffer * (points + max(0, least) // step + max(0, least + more) // step)
    scratch = _fill_pages(buffer) * conv.width + _BOOKED
    if _find_row_rest(call, conv):
        last, step = call.size(call.results[0].shape[-1]), _read_steps(call, -1)[0]
        if last is None:
            return None
        row = count_blocks(last, step) * (step**2 * filters)
        scratch = scratch + _fill_pages(row) * conv.width + _PAGE
        if call.type("bias") is not None:
            scratch = scratch + conv.result * _FLOAT + _ALIGNMENT
    items = conv.items if channels > 1 else Amount(0)
    kernel = _pad(conv.kernel, filters // call.value("groups", 1), 1)
    copies = 2 if filters > 1 else 1
    return largest(scratch + (items + kernel) * conv.width, conv.result * (copies * conv.width))


def _count_unfolded(call: OpCall, conv: _Convolution, groups: int) -> Amount | None:
    """The columns of one sample and group in float32, of volumes those of one slice.

    Half precision is added up in float32 beside them.
    """
    points, outputs = conv.input.shape[2:], call.product(call.results[0].shape[1:])
    if len(points) == _SPACE:
        points = points[1:]
    columns = call.product([conv.weight.shape[1], *points, *conv.window])
    if columns is None or outputs is None:
        return None
    if set(conv.window) == {1} and _is_one(call.value("stride", 1)):
        columns = Amount(0)
    sums = count_blocks(outputs, groups) if conv.width < _FLOAT else Amount(0)
    return (columns + sums) * _FLOAT + 2 * _ALIGNMENT


def _fill_pages(elements: Amount) -> Amount:
    return count_blocks(elements, _PAGE) * _PAGE


def _find_row_rest(call: OpCall, conv: _Convolution) -> int:
    """What is left of a row of the result of a transposed convolution, divided by its stride."""
    window, (step, zeros, more) = conv.window[-1], _read_steps(call, -1)
    return (window - 2 * zeros + more) % step if isinstance(window, int) else 0


def _read_steps(call: OpCall, at: int) -> tuple[int, int, int]:
    """Stride, padding and output padding of one dim: each is one number for all, or a list."""
    defaults = {"stride": 1, "padding": 0, "output_padding": 0}
    values = [call.value(name, default) for name, default in defaults.items()]
    step, zeros, more = (
        value[at if len(value) > 1 else 0] if isinstance(value, list) and value else value
        for value in values
    )
    numbers = (step, zeros, more)
    return numbers if all(isinstance(number, int) for number in numbers) else (1, 0, 0)


def _pointwise_blocks(call: OpCall, conv: _Convolution) -> Amount:
    """Elements for one sample of a kernel of one: sums in float32, and inputs without a stride."""
    shape = call.results[0].shape
    if set(conv.window) != {1} or call.value("groups", 1) != 1:
        return Amount(0)
    sums = call.product(shape[1:]) if conv.width < _FLOAT else Amount(0)
    strided = not conv.transposed and not _is_one(call.value("stride", 1))
    inputs = call.product([conv.input.shape[1], *shape[2:]]) if strided else Amount(0)
    if sums is None or inputs is None:
        return Amount(0)
    return sums * (_FLOAT // conv.width) + inputs


def _is_one(steps: object) -> bool:
    return all(step == 1 for step in (steps if isinstance(steps, list) else [steps]))


def _pad(elements: Amount, channels: int, groups: object) -> Amount:
    """Elements with their channels filled up to a multiple of 16; not those of groups."""
    if groups != 1 or channels % _CHANNELS == 0:
        return elements
    return count_blocks(elements * (-(-channels // _CHANNELS) * _CHANNELS), channels)


def recurrent_scratch(call: OpCall) -> Amount | None:
    """Bytes inside of an LSTM, GRU or RNN: what the gates need, and what is between layers."""
    source = call.type("input")
    states = call.nodes("hx")
    width = width_of(source.dtype) if source is not None else None
    if source is None or not states or width is None or len(source.shape) != _WINDOW:
        return None
    first = call.value("batch_first", False) is True
    steps, batch = (call.size(source.shape[at]) for at in ((1, 0) if first else (0, 1)))
    inner, hidden = call.size(source.shape[2]), call.size(call.type_of(states[-1]).shape[-1])
    if steps is None or batch is None or inner is None or hidden is None:
        return None
    layers, both = call.value("num_layers", 1), call.value("bidirectional", False) is True
    deep = isinstance(layers, int) and layers > 1
    outputs = steps * batch * hidden
    projection = call.size(call.type_of(states[0]).shape[-1])
    if projection is not None and projection != hidden:  # torch's own steps, not oneDNN's
        ways = 2 if both else 1
        total = outputs * 4 + (steps - 1) * batch * projection * ways + batch * hidden * 8
        return total * width - (call.bytes(*call.results) or 0)
    if call.name == "aten.lstm" and source.dtype in ("float32", "bfloat16"):
        total = _onednn_lstm(steps, batch, inner, hidden)
        if deep:  # beside what the layer before gave
            between = outputs * (3 if both else 1)
            later = _onednn_lstm(steps, batch, hidden * (2 if both else 1), hidden)
            total = largest(total, later + between)
        return (total + (steps * batch * inner if first else 0)) * width
    gates = {"aten.lstm": 4, "aten.gru": 3}.get(call.name, 1)
    count = gates + 4 if both else gates + 1
    count += (2 if both else 1) if deep else 0
    return (outputs * count - batch * hidden * (2 if both else 1)) * width


def cell_scratch(call: OpCall) -> Amount | None:
    """Bytes inside of one step of a recurrent layer: the products of its input and its state.

    A GRU multiplies its input first, the others their state. oneDNN has blocks in bfloat16.
    """
    state = next((call.type_of(node) for node in call.nodes("hx")), None)
    source, made = call.type("input"), call.bytes(*call.results)
    if state is None or source is None or made is None:
        return None
    elements, width = call.elements(state), width_of(state.dtype)
    inner, hidden = (call.size(item.shape[-1]) for item in (source, state))
    if elements is None or width is None or inner is None or hidden is None:
        return None
    gates, copies = {"aten.lstm_cell": (4, 6), "aten.gru_cell": (3, 7)}.get(call.name, (1, 2))
    total, rows = elements * (width * copies), call.product(state.shape[:-1])
    depths = (inner, hidden) if call.name == "aten.gru_cell" else (hidden, inner)
    for count, depth in enumerate(depths, 1):
        blocks = find_blocks(state.dtype, rows, depth, hidden * gates)
        if blocks is not None:
            total = largest(total, elements * (width * gates * count) + blocks - made)
    return total


def _onednn_lstm(steps: Amount, batch: Amount, inner: Amount, hidden: Amount) -> Amount:
    """Elements of the weights in blocks and of the workspace that `mkldnn_rnn_layer` asks for."""
    weights = (inner + hidden + 1) * hidden * 4
    workspace = (steps + 1) * batch * 2 * (largest(inner, hidden) + hidden)
    return weights + workspace + batch * hidden * 4
