"""Costs from the Record alone: FLOPs as torch counts them, formulas exact at other sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from explorer import explore
from export_engine.cost import Amount, ProgramCost, cost_of
from export_engine.cost.amount import SizeReader
from export_engine.plain_errors import WrongArgument
from export_engine.record import Frames, Ragged, Record, Symbol


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


def _attention(x: torch.Tensor) -> torch.Tensor:
    heads = x.unflatten(-1, (2, 4)).transpose(1, 2)
    return nn.functional.scaled_dot_product_attention(heads, heads, heads[..., :4])


B, S = 3, 5
MODELS: dict[str, tuple[nn.Module, torch.Tensor, str]] = {
    "mlp": (
        nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)),
        torch.randn(B, S, 8),
        "x: batch, seq, _",
    ),
    "matmul": (Function(lambda x: x @ x.mT), torch.randn(B, S, 8), "x: batch, seq, _"),
    "matmul_broadcast": (
        Function(lambda x: x[:, None] @ torch.ones(2, 8, 7)),
        torch.randn(B, S, 8),
        "x: batch, seq, _",
    ),
    "bmm": (Function(lambda x: torch.bmm(x, x.mT)), torch.randn(B, S, 8), "x: batch, seq, _"),
    "baddbmm": (
        Function(lambda x: torch.baddbmm(x.sum(), x, x.mT)),
        torch.randn(B, S, 8),
        "x: batch, seq, _",
    ),
    "einsum": (
        Function(lambda x: torch.einsum("bsd,btd->bst", x, x)),
        torch.randn(B, S, 8),
        "x: batch, seq, _",
    ),
    "einsum_of_three": (
        Function(lambda x: torch.einsum("bsd,de,bte->bst", x, torch.ones(8, 6), x[..., :6])),
        torch.randn(B, S, 8),
        "x: batch, seq, _",
    ),
    "einsum_of_dots": (
        Function(lambda x: torch.einsum("...sd,...td->...st", x, x)),
        torch.randn(B, S, 8),
        "x: batch, seq, _",
    ),
    "einsum_without_result": (
        Function(lambda x: torch.einsum("bsd,de", x, torch.ones(8, 6))),
        torch.randn(B, S, 8),
        "x: batch, seq, _",
    ),
    "no_sum_is_no_product_of_matrices": (
        Function(lambda x: torch.einsum("bs,bd->bsd", x[..., 0], x[:, 0]) @ torch.ones(8)),
        torch.randn(B, S, 8),
        "x: batch, seq, _",
    ),
    "attention": (Function(_attention), torch.randn(B, S, 8), "x: batch, seq, _"),
    "conv1d": (nn.Conv1d(8, 6, 3, padding=1), torch.randn(B, 8, 9), "input: batch, _, length"),
    "conv2d": (
        nn.Conv2d(4, 6, 3, padding=1, groups=2),
        torch.randn(B, 4, 8, 9),
        "input: batch, _, h, w",
    ),
    "conv2d_strided": (
        nn.Conv2d(4, 6, (3, 2), stride=2),
        torch.randn(B, 4, 8, 9),
        "input: batch, _, h[5..], w[4..]",
    ),
    "conv_transpose2d": (
        nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2),
        torch.randn(B, 4, 8, 9),
        "input: batch, _, h, w",
    ),
    "encoder": (
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0),
        torch.randn(B, S, 8),
        "src: batch, seq, _",
    ),
    "norms": (
        nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 8), nn.Softmax(-1)),
        torch.randn(B, S, 8),
        "x: batch, seq, _",
    ),
}


def torchs_count(model: nn.Module, x: torch.Tensor) -> int:
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
        model(x)
    return counter.get_total_flops()


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_flops_are_torchs_at_every_size(name: str) -> None:
    model, x, shapes = MODELS[name]
    model.eval()
    shapes = shapes.replace("x:", "input:") if isinstance(model, nn.Sequential) else shapes
    ex = explore(model, (x,), dynamic_shapes=shapes)
    assert ex.ok, ex
    cost = cost_of(ex.record)
    assert cost.unknown == {}
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        for step in range(5):
            sizes = {symbol.name: (symbol.example or 2) + step for symbol in ex.record.symbols}
            grown = [
                size + step if str(kind) in sizes else size
                for size, kind in zip(
                    x.shape, ex.record.types[_input(ex.record)].shape, strict=True
                )
            ]
            other = torch.randn(grown)
            at = cost.at(sizes)
            assert at.torch_flops == torchs_count(model, other)
            assert at.flops >= at.torch_flops
            if step == 3:  # exported at these very sizes, all of it is the same
                static = cost_of(explore(model, (other,)).record).at()
                assert (at.flops, at.read, at.written) == (
                    static.flops,
                    static.read,
                    static.written,
                )
                assert at.peak_bytes == static.peak_bytes
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


def _input(record: Record) -> int:
    return next(each.type for each in record.signature.inputs if each.kind == "user_input")


def _cost(function: Callable[..., Any], x: torch.Tensor, shapes: str = "") -> ProgramCost:
    ex = explore(Function(function), (x,), dynamic_shapes=shapes or None)
    assert ex.ok, ex
    return cost_of(ex.record)


def test_what_is_not_known_is_no_zero() -> None:
    cost = _cost(lambda x: torch.linalg.svd(x)[1], torch.randn(4, 4))
    assert cost.unknown == {"aten.linalg_svd.default": 1}
    assert [each.cost.flops for each in cost.ops if "svd" in each.op] == [None]


def test_moves_and_views_compute_nothing() -> None:
    cost = _cost(lambda x: torch.cat([x.view(-1), x.T.reshape(-1)]), torch.randn(4, 6))
    at = cost.at()
    assert at.flops == 0
    bases = {each.op: each.cost.basis for each in cost.ops}
    assert bases["aten.cat.default"] == "moves"
    assert bases["aten.view.default"] == "view"
    assert bases["aten.reshape.default"] == "moves"  # of a transposed tensor: a copy
    assert at.written == 4 * (24 + 48)


def test_a_reshape_to_the_same_shape_copies_nothing() -> None:
    cost = _cost(lambda x: x.T.reshape(6, x.shape[0]), torch.randn(4, 6), "x: rows, _")
    assert {each.op: each.cost.basis for each in cost.ops}["aten.reshape.default"] == "view"


def test_a_scan_costs_what_its_steps_do() -> None:
    def steps(x: torch.Tensor) -> Any:
        from torch._higher_order_ops import scan

        weight = torch.ones(4, 4)
        return scan(lambda h, row: ((h + row) @ weight, h * 2), torch.zeros(2, 4), x)

    cost = _cost(steps, torch.randn(6, 2, 4), "x: time, _, _")
    assert cost.unknown == {}
    one = 2 * 2 * 4 * 4 + 2 * 8
    assert cost.at(time=6).flops == 6 * one
    assert cost.at(time=9).flops == 9 * one


def test_a_cond_costs_its_larger_branch() -> None:
    def choose(x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x @ x, lambda x: x + 1, (x,))

    flops = _cost(choose, torch.randn(4, 4)).at().flops
    assert flops == 2 * 64 + 16 + 1


def test_sizes_are_asked_for_by_name() -> None:
    cost = _cost(lambda x: x + 1, torch.randn(3, 4), "x: batch, _")
    assert str(cost.flops) == "4*batch"
    assert cost.at(batch=7).flops == 28
    assert cost.at({"batch": 8}).flops == 32
    with pytest.raises(WrongArgument, match=r"There is no size 'bacth'\. Available: batch"):
        cost.at(bacth=3)
    with pytest.raises(WrongArgument, match=r"A size must be an int, but batch is 2\.5"):
        cost.at(batch=2.5)  # type: ignore[arg-type]


def test_the_tensors_at_the_peak_are_named() -> None:
    def grows(x: torch.Tensor) -> torch.Tensor:
        wide = x.repeat(1, 100)
        wider = wide * 2
        return wider.sum(1)

    ex = explore(Function(grows), (torch.randn(10, 10),))
    peak = cost_of(ex.record).at().peak
    graph = ex.record.graphs[0]
    names = [ex.record.strings[graph.name[node]] for node, _ in peak.alive]
    assert names == ["repeat", "mul"]
    assert peak.bytes == 2 * 4 * 10_000


def _measured_peak(model: nn.Module, x: torch.Tensor) -> int:
    """The most bytes that the profiler sees allocated at once."""
    from torch.profiler import ProfilerActivity, profile

    with torch.no_grad():
        model(x)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
            model(x)
    held, most = 0, 0
    for each in seen.profiler.kineto_results.events():  # type: ignore[union-attr]
        if each.name() == "[memory]":
            held += each.nbytes()
            most = max(most, held)
    return most


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [16, 48])
def test_the_peak_is_what_a_run_allocates(size: int, dtype: torch.dtype) -> None:
    layers = [nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64), nn.LayerNorm(64)]
    model = nn.Sequential(*layers, nn.Linear(64, 512), nn.Softmax(-1)).to(dtype).eval()
    x = torch.randn(size, 64, dtype=dtype)
    ex = explore(model, (torch.randn(4, 64, dtype=dtype),), dynamic_shapes="input: batch, _")
    told = cost_of(ex.record).at(batch=size).peak_bytes
    program = ex.program.module()
    assert told == pytest.approx(_measured_peak(program, x), rel=0.1)


NAMES = ("a", "b", "c")
LEAVES = st.sampled_from(NAMES) | st.integers(0, 9).map(str)
TEXTS = st.recursive(
    LEAVES,
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(
        lambda each: f"({each[0]} {each[1]} {each[2]})"
    ),
    max_leaves=8,
)


def _record() -> Record:
    symbols = [Symbol(name, f"s{at}", "backed", 0, None, 2) for at, name in enumerate(NAMES)]
    from array import array

    empty = Ragged(array("i", [0]), array("i"))
    return Record(
        title="",
        outcome="exported",
        mode="given",
        verdict="",
        shapes="",
        torch_version="",
        frames=Frames(array("i"), array("i"), array("i")),
        stacks=empty,
        symbols=symbols,
    )


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, other=TEXTS, sizes=st.tuples(*[st.integers(1, 50)] * 3))
def test_an_amount_is_what_python_computes(
    text: str, other: str, sizes: tuple[int, int, int]
) -> None:
    reader = SizeReader(_record())
    one, two = reader.read(text), reader.read(other)
    assert one is not None
    assert two is not None
    names = dict(zip(NAMES, sizes, strict=True))
    try:
        wanted = [eval(each, {}, names) for each in (text, other)]
    except ZeroDivisionError:
        return
    for made, value in (
        (one, wanted[0]),
        (one + two, wanted[0] + wanted[1]),
        (one * two, wanted[0] * wanted[1]),
        (one - two, wanted[0] - wanted[1]),
    ):
        try:
            assert made.at(sizes) == value
        except ZeroDivisionError:
            return
    assert eval(str(one * two), {}, names) == wanted[0] * wanted[1]


def test_amounts_are_written_as_python() -> None:
    reader = SizeReader(_record())
    assert str(reader.product(["a", 4, "a", "b"])) == "4*a**2*b"
    assert str(reader.read("(a - 1)//2 + 1")) == "(a - 1) // 2 + 1"
    assert str(Amount(0)) == "0"
    assert reader.read("unknown + 1") is None
