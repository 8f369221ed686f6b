"""Peaks with the memory that ops allocate inside, against what the profiler sees allocated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

import explorer

from ..benchmarks import counting

F = nn.functional


class Calls(nn.Module):
    """A function of tensors, with modules."""

    def __init__(self, function: Callable[..., Any], *layers: nn.Module) -> None:
        super().__init__()
        self.function = function
        self.layers = nn.ModuleList(layers)

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*self.layers, *tensors)


ROWS, HEADS, IMAGE = (8, 64, 128), (2, 4, 200, 32), (4, 16, 24, 24)


def _attends(**options: Any) -> Callable[..., Any]:
    return lambda q: F.scaled_dot_product_attention(q, q, q, **options)


def _unequal(q: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, q, q[..., :16])


def _with_mask(q: torch.Tensor) -> torch.Tensor:
    mask = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool)
    return F.scaled_dot_product_attention(q, q, q, attn_mask=mask)


def _norm(x: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (128,), x[0, 0])


def _folded(x: torch.Tensor) -> torch.Tensor:
    return torch.einsum("bshd,bthd->bhst", x.view(8, 64, 4, 32), x.view(8, 64, 4, 32))


def _first(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return layer(x)[0]


def _bags(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return torch.cat([layer(rows.long().abs()) for rows in x], 1).relu()


def _steps(cell: nn.Module, x: torch.Tensor) -> torch.Tensor:
    state = x.new_zeros(x.shape[0], 64)
    for step in range(3):
        state = cell(x[:, step], state)
    return state


def _branches(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    # Always the first: a run measures the branch that it takes
    return torch.cond(x.sum() < 1e9, lambda x: layer(x).relu(), lambda x: x.sin(), (x,))


def _repeats(x: torch.Tensor) -> torch.Tensor:
    def step(count: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return count + 1, (torch.cat([x, x], 1) @ x.mT).softmax(-1)[:, :64] @ x

    count = torch.zeros((), dtype=torch.long)
    result: torch.Tensor = while_loop(lambda count, _: count < 3, step, (count, x))[1]
    return result


def _scans(x: torch.Tensor) -> Any:
    def step(state: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        state = (state @ state.mT).softmax(-1) @ state + row
        return state, state * 2

    return scan(step, x[0], x)


MODELS: dict[str, tuple[Callable[..., Any], tuple[int, ...], list[Callable[[], nn.Module]]]] = {
    "linear": (lambda layer, x: layer(x), ROWS, [lambda: nn.Linear(128, 256)]),
    "bmm": (lambda x: torch.bmm(x, x.mT), ROWS, []),
    "einsum of dims that do not merge": (_folded, ROWS, []),
    "matmul with broadcast": (lambda x: x[:, None] @ x.mT[:3], ROWS, []),
    "convolution": (_first, IMAGE, [lambda: nn.Conv2d(16, 32, 3, padding=1)]),
    "depthwise": (_first, IMAGE, [lambda: nn.Conv2d(16, 16, 3, groups=16)]),
    "odd channels": (_first, IMAGE, [lambda: nn.Conv2d(16, 20, 3, dilation=2)]),
    "one dim": (_first, ROWS, [lambda: nn.Conv1d(64, 32, 3)]),
    "transposed": (_first, IMAGE, [lambda: nn.ConvTranspose2d(16, 32, 2, stride=2)]),
    "attention, fused": (_attends(is_causal=True), HEADS, []),
    "attention, a mask of bools": (_with_mask, HEADS, []),
    "attention, unequal heads": (_unequal, HEADS, []),
    "attention of three dims": (_attends(), ROWS, []),
    "RMS norm": (_norm, ROWS, []),
    "mean": (lambda x: x.mean(1), ROWS, []),
    "softmax in float32": (lambda x: x.softmax(-1, dtype=torch.float32), ROWS, []),
    "logsumexp": (lambda x: x.logsumexp(-1), ROWS, []),
    "upsampling": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), IMAGE, []),
    "LSTM": (_first, ROWS, [lambda: nn.LSTM(128, 64, 2, bidirectional=True)]),
    "GRU": (_first, ROWS, [lambda: nn.GRU(128, 64, 2)]),
    "LSTM with projections": (_first, ROWS, [lambda: nn.LSTM(128, 64, proj_size=16)]),
    "a step of a GRU": (_steps, ROWS, [lambda: nn.GRUCell(128, 64)]),
    "a step of an RNN": (_steps, ROWS, [lambda: nn.RNNCell(128, 64)]),
    "three dims, few channels": (_first, (2, 8, 6, 12, 12), [lambda: nn.Conv3d(8, 16, 3)]),
    "groups of points": (_first, IMAGE, [lambda: nn.Conv2d(16, 32, 1, groups=4)]),
    "transposed, in groups": (
        _first,
        IMAGE,
        [lambda: nn.ConvTranspose2d(16, 32, 3, stride=2, groups=4)],
    ),
    "transposed, step by step": (_first, ROWS, [lambda: nn.ConvTranspose1d(64, 32, 5)]),
    "sums of bools": (lambda x: (x > 0).sum(1) + (x > 1).cumsum(1)[:, 0], ROWS, []),
    "views of a broadcast": (lambda x: torch.broadcast_tensors(x, x[:1])[1] * 2, ROWS, []),
    "by a vector": (lambda x: x @ x[0, 0] + torch.mv(x[0], x[0, 0]), ROWS, []),
    "three operands": (lambda x: torch.einsum("bsd,btd,bte->bse", x, x, x), ROWS, []),
    "norm of a view": (lambda x: F.layer_norm(x.mT, (64,)), ROWS, []),
    "softmax of a view": (lambda x: x.transpose(0, 1).softmax(-1), ROWS, []),
    "linear of a view": (lambda layer, x: layer(x.mT), (8, 128, 64), [lambda: nn.Linear(128, 256)]),
    "convolution of a view": (lambda layer, x: layer(x.mT), ROWS, [lambda: nn.Conv1d(128, 32, 3)]),
    "channels last": (
        lambda layer, x: layer(x.permute(0, 3, 1, 2)),
        (2, 12, 12, 64),
        [lambda: nn.Conv2d(64, 64, 3)],
    ),
    "pooling of a view": (lambda x: F.avg_pool2d(x.mT, 2), IMAGE, []),
    "bmm of a view": (lambda x: torch.bmm(x.transpose(0, 1), x.transpose(0, 1).mT), ROWS, []),
    "transposed, few channels": (_first, IMAGE, [lambda: nn.ConvTranspose2d(16, 5, 2, stride=2)]),
    "quantile": (lambda x: x.float().quantile(0.5, -1), ROWS, []),
    "items of tuples, one at a time": (
        lambda x: x.topk(9)[0].max(-1)[0] + x.sort()[1].sum(-1),
        ROWS,
        [],
    ),
    "bags": (_bags, ROWS, [lambda: nn.EmbeddingBag(512, 32, mode="max")]),
    "vmap": (torch.vmap(lambda x: (x[:, None] * x[None]).sum(1)), ROWS, []),
    "branches": (_branches, ROWS, [lambda: nn.Linear(128, 128)]),
    "while": (_repeats, ROWS, []),
    "scan": (_scans, ROWS, []),
    "map": (lambda x: map_rows(lambda row: (row @ row.mT).softmax(-1) @ row, x), ROWS, []),
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Kernels have a workspace for each thread; costs are of one."""
    with counting.one_thread():
        yield


def _dtypes() -> list[torch.dtype]:
    """Those that oneDNN computes in here."""
    half = torch.backends.mkldnn.is_available() and torch.cpu._is_avx512_bf16_supported()
    return [torch.float32, torch.bfloat16] if half else [torch.float32]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", _dtypes())
@pytest.mark.parametrize("name", MODELS)
def test_the_peak_is_what_a_run_allocates(name: str, dtype: torch.dtype) -> None:
    function, shape, layers = MODELS[name]
    model = Calls(function, *(make() for make in layers)).to(dtype).eval()
    x = torch.randn(shape, dtype=dtype)
    ex = explorer.explore(model, (x,))
    assert ex.ok, ex
    program = ex.program.module()
    assert ex.cost().at().peak_bytes == pytest.approx(counting.peak_of(lambda: program(x)), rel=0.1)


@st.composite
def _transposed(draw: st.DrawFn) -> tuple[nn.Module, torch.Tensor]:
    """A transposed convolution of one or two dims, and its input.

    Strides in bfloat16 take another kernel on CPUs without instructions for it.
    """
    dtype = draw(st.sampled_from([torch.float32, torch.bfloat16]))
    stride = draw(st.integers(1, 3)) if dtype == torch.float32 else 1
    channels, filters = (draw(st.sampled_from([8, 12, 16, 20, 48, 64])) for _ in "io")
    window = draw(st.integers(2, 5))
    options = {
        "stride": stride,
        "padding": draw(st.integers(0, window // 2)),
        "output_padding": draw(st.integers(0, stride - 1)),
        "dilation": draw(st.integers(1, 2)),
        "bias": draw(st.booleans()),
    }
    dims, points = draw(st.sampled_from([(1, 20), (1, 333), (2, 7), (2, 16), (2, 33)]))
    kind = [nn.ConvTranspose1d, nn.ConvTranspose2d][dims - 1]
    layer = kind(channels, filters, window, **options).to(dtype).eval()
    return layer, torch.randn(draw(st.integers(1, 4)), channels, *[points] * dims, dtype=dtype)


@pytest.mark.slow
@pytest.mark.skipif(
    torch.backends.cpu.get_cpu_capability() != "AVX512", reason="oneDNN has other kernels there"
)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(case=_transposed())
def test_the_peak_of_a_transposed_convolution_is_what_a_run_allocates(
    case: tuple[nn.Module, torch.Tensor],
) -> None:
    layer, x = case
    told = explorer.explore(layer, (x,)).cost().at().peak_bytes
    assert told == pytest.approx(counting.peak_of(lambda: layer(x)), rel=0.1)
