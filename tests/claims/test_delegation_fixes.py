"""Each kind of rewrite brings its op into XNNPACK, and the program agrees with eager."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import explorer
from export_engine.delegate.program_rewrites import ProgramRewrite
from export_engine.torch_internals import copy_program

pytest.importorskip("executorch", reason="pip install '.[executorch]'")

VARIES = "x: batch[2..16], _, _, _"


@torch.library.custom_op("claims::scaled_tanh", mutates_args=())
def scaled_tanh(x: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.tanh(x * scale) + x


@scaled_tanh.register_fake
def _(x: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.empty_like(x)


class Planted(nn.Module):
    """A body around one op that is left outside."""

    def __init__(self, body: Callable[[Any, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.body = body
        self.norm = nn.LayerNorm(8)
        self.linear = nn.Linear(8, 8)
        self.groups = nn.GroupNorm(2, 4)
        self.register_buffer("rows", torch.arange(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(self, x)


KINDS: dict[str, tuple[Callable[[Any, torch.Tensor], torch.Tensor], str | None]] = {
    "alpha": (lambda m, x: torch.relu(torch.add(x.exp(), x, alpha=2)), VARIES),
    "integer scalar": (lambda m, x: x.exp() * 2, VARIES),
    "mean": (lambda m, x: x.exp().mean((2, 3)).abs(), VARIES),
    "mean of another dim": (lambda m, x: x.exp().mean(1).abs(), VARIES),
    "sum": (lambda m, x: x.exp().sum((-1,)).abs(), VARIES),
    "unsqueeze": (lambda m, x: x.exp().unsqueeze(1).abs(), VARIES),
    "squeeze": (lambda m, x: x.mean((2, 3), keepdim=True).squeeze(3).abs(), VARIES),
    "view": (lambda m, x: x.exp().view(x.shape[0], -1).abs(), VARIES),
    "select": (lambda m, x: x.exp()[:, 1].abs(), None),
    "strided slice": (lambda m, x: x.exp()[:, :, ::2].abs(), None),
    "max": (lambda m, x: x.exp().max(3).values.abs(), VARIES),
    "amax": (lambda m, x: x.exp().amax(3).abs(), VARIES),
    "power": (lambda m, x: (x.exp() ** 3).abs() + x.exp() ** 0.5, VARIES),
    "softmax": (lambda m, x: x.exp().softmax(1).abs(), VARIES),
    "average pool": (lambda m, x: functional.avg_pool2d(x.exp(), 3, 2, 1).abs(), VARIES),
    "product": (lambda m, x: (x[0, 0].exp() @ x[1, 1].sigmoid()).abs(), None),
    "linear": (lambda m, x: functional.linear(x.exp(), m.linear.weight.abs()).abs(), VARIES),
    "layer norm": (lambda m, x: m.norm(x.exp()).abs(), "x: batch[2..16], _, rows[2..16], _"),
    "rms norm": (
        lambda m, x: functional.rms_norm(x.exp(), (8,)).abs(),
        "x: batch[2..16], _, rows[2..16], _",
    ),
    "mean of a row": (
        lambda m, x: (x.exp().mean(-1, keepdim=True) * x).abs(),
        "x: batch[2..16], _, rows[2..16], _",
    ),
    "group norm": (lambda m, x: m.groups(x.exp()).abs(), VARIES),
    "attention": (
        lambda m, x: functional.scaled_dot_product_attention(x.exp(), x, x, is_causal=True).abs(),
        VARIES,
    ),
    "constant": (lambda m, x: (x.exp() * m.rows.flip(0).clamp(max=5).float()).abs(), VARIES),
    "custom op": (lambda m, x: scaled_tanh(x.exp(), 2.0).abs(), VARIES),
    "decomposition": (lambda m, x: x.exp().log_softmax(-1).abs(), VARIES),
    "expand": (
        lambda m, x: (x.exp().mean((2, 3), keepdim=True).expand(-1, -1, 8, 8) + x).abs(),
        None,
    ),
    "elu": (lambda m, x: functional.elu(x.sin()).abs(), VARIES),
    "split": (lambda m, x: sum(y.abs() for y in x.exp().chunk(2, 1)), None),
}
"""A body for each kind, and what varies."""
IN_MAKE_TEST = ("max", "custom op")


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.slow if kind in IN_MAKE_TEST else pytest.mark.thorough)
        for kind in KINDS
    ],
)
def test_a_rewrite_brings_the_op_in(kind: str) -> None:
    body, varies = KINDS[kind]
    ex = explorer.explore(Planted(body).eval(), (torch.randn(2, 4, 8, 8),), dynamic_shapes=varies)
    program = ex.program
    before = str(program.graph)
    found = ex.delegate("xnnpack")
    assert found.outside
    fix = found.autofix()
    assert fix is not None
    assert fix.is_lossless, fix.agreement
    assert fix.gain.is_gain
    assert not fix.delegation.outside, [(each.op, each.reason) for each in fix.delegation.outside]
    assert len(fix.delegation.partitions) == 1
    assert str(program.graph) == before
    assert ex.session.entries[ex.session.current].step.startswith("For XNNPACK")
    again = ex.delegate("xnnpack")
    assert again.share == 1


@pytest.mark.slow
def test_a_pass_of_the_backend_brings_a_decomposed_pool_in(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Planted(lambda m, x: functional.max_pool2d(x.exp(), 2).abs()).eval()
    ex = explorer.explore(pool, (torch.randn(2, 4, 8, 8),), dynamic_shapes=VARIES)
    ex.decompose()
    found = ex.delegate("xnnpack")
    (op,) = found.outside
    assert op.op == "aten.max_pool2d_with_indices.default"
    kinds, try_on = [], ProgramRewrite.try_on
    monkeypatch.setattr(
        ProgramRewrite, "try_on", lambda self, *args: kinds.append(self.kind) or try_on(self, *args)
    )
    fix = found.autofix()
    assert sorted({*kinds}) == sorted(kinds), "a program is retraced once for each kind"
    assert fix is not None
    assert fix.kind == "RemoveGetItemPass"
    assert fix.is_lossless, fix.agreement
    assert not fix.delegation.outside
    assert len(fix.delegation.partitions) == 1


@pytest.mark.slow
def test_a_bound_of_a_size_lets_the_runtime_accept_more_than_the_example() -> None:
    """Memory is planned for the example's size where a size has no upper bound."""
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    def accepts(program: torch.export.ExportedProgram, batch: int) -> bool:
        ready = to_edge(copy_program(program)).to_executorch()
        method = Runtime.get().load_program(ready.buffer).load_method("forward")
        try:
            return tuple(method.execute([torch.randn(batch, 8)])[0].shape) == (batch, 8)
        except RuntimeError:
            return False

    ex = explorer.explore(
        Planted(lambda m, x: x.relu().exp()), (torch.randn(3, 8),), dynamic_shapes="x: batch, _"
    )
    found = ex.delegate("xnnpack")
    assert any("`batch` has no upper bound" in note for note in found.data.notes), found.data.notes
    (fix,) = found.fixes()
    assert (fix.kind, fix.title, fix.is_lossless) == ("bound", "Bound batch ≤ 32", False)
    assert str(fix.gain) == "memory planned for batch = 32, not batch = 3"
    assert fix.agreement.verdict == "agrees"
    assert found.autofix() is None, "it excludes sizes, so that only a user may choose it"
    assert not accepts(ex.program, 4)
    found.apply_kinds("bound")
    assert accepts(ex.program, 4)
    assert accepts(ex.program, 32)
    assert not accepts(ex.program, 33)
    assert not any("no upper bound" in note for note in ex.delegate("xnnpack").data.notes)
    assert ex.session.entries[ex.session.current].record.symbols[0].upper == 32


@pytest.mark.slow
def test_what_no_rewrite_helps_stays() -> None:
    ex = explorer.explore(Planted(lambda m, x: torch.cumsum(x, 0)).eval(), (torch.randn(2, 4),))
    found = ex.delegate("xnnpack")
    assert found.fixes() == ()
    assert found.autofix() is None
    assert ex.session.current == 0


@pytest.mark.slow
def test_a_row_that_a_mask_hides_is_zero_also_when_rewritten() -> None:
    """Softmax of a hidden row has no number; attention says 0, and so must its rewrite."""

    class Attention(nn.Module):
        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)

    shown = torch.rand(2, 1, 8, 8) > 0.3
    shown[0, 0, 3] = False
    minus = torch.zeros(2, 1, 8, 8).masked_fill(~shown, -torch.inf)
    for mask in (shown, minus):
        ex = explorer.explore(Attention(), (torch.randn(2, 2, 8, 4), mask))
        constants = {**ex.program.constants}
        fix = ex.delegate("xnnpack").autofix()
        assert fix is not None
        assert fix.is_lossless
        assert len(fix.delegation.partitions) == 1
        args, _ = ex.program.example_inputs
        out = fix.program.module()(*args)
        assert not out[0, :, 3].any()
        torch.testing.assert_close(out, Attention()(*args))
        assert ex.program.constants == constants


@pytest.mark.slow
def test_float64_in_float32_is_lossy_although_it_agrees() -> None:
    class Small(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x.relu() * x).abs()

    ex = explorer.explore(Small(), (torch.randn(4, 8).double(),))
    found = ex.delegate("xnnpack")
    (fix,) = found.fixes()
    assert fix.agreement.verdict == "agrees"
    assert not fix.is_lossless
    assert found.autofix() is None


@pytest.mark.slow
def test_an_op_that_refuses_float32_stays_outside() -> None:
    @torch.library.custom_op("claims::of_bfloat16", mutates_args=())
    def of_bfloat16(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @of_bfloat16.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        assert x.dtype is torch.bfloat16
        return torch.empty_like(x)

    class Small(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = of_bfloat16(x)
            return (y.relu() * y).abs()

    found = explorer.explore(Small(), (torch.randn(4, 8).bfloat16(),)).delegate("xnnpack")
    (fix,) = found.fixes()
    assert fix.ops == ("relu", "mul", "abs_1")
    assert any("of_bfloat16" in op.op for op in fix.delegation.outside)


@pytest.mark.thorough
def test_a_program_in_bfloat16_runs_in_float32_between_two_casts() -> None:
    class Small(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(32, 32)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x).relu().softmax(-1)

    x = torch.randn(4, 32).bfloat16()
    ex = explorer.explore(Small().bfloat16().eval(), (x,), dynamic_shapes="x: batch, _")
    before = ex.delegate("xnnpack")
    assert not before.data.inside
    fix = before.autofix()
    assert fix is not None
    assert fix.is_lossless
    assert {op.op for op in fix.delegation.outside} == {"dim_order_ops._to_dim_order_copy.default"}
    assert len(fix.delegation.partitions) == 1
