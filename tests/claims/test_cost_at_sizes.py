"""Costs at other sizes: the peak, which op overtakes which, what fits, what a page computes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.results.cost import measure_device
from export_engine.cost import cost_of, device_of, table_of
from export_engine.plain_errors import WrongArgument
from export_engine.sizes import evaluate_formula

from ..benchmarks.counting import peak_of


class Attends(nn.Module):
    """Linear layers grow with seq, attention with its square."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.up(x)
        return nn.functional.scaled_dot_product_attention(h, h, h)


@pytest.fixture(scope="module")
def attends() -> explorer.Exploration:
    return explorer.explore(Attends(), (torch.randn(2, 3, 32),), dynamic_shapes="x: batch, seq, _")


def test_attention_overtakes_where_the_formulas_cross(attends: explorer.Exploration) -> None:
    (found,) = attends.cost().overtakings("seq")
    assert (found.less, found.more) == ("linear", "scaled_dot_product_attention")
    # 2*32*32 of the layer and 4*seq*32 of attention, for each row
    assert found.at == 17


def test_the_largest_size_that_fits_is_the_last_one(attends: explorer.Exploration) -> None:
    cost = attends.cost()
    largest = cost.largest("seq", 0.01, batch=4)
    assert largest is not None
    assert cost.at(batch=4, seq=largest).total_bytes <= 10**7
    assert cost.at(batch=4, seq=largest + 1).total_bytes > 10**7
    assert cost.largest("seq", 1e-9) is None
    with pytest.raises(WrongArgument, match="There is no size 'sq'"):
        cost.largest("sq", 1)


def test_an_estimate_is_called_one(attends: explorer.Exploration) -> None:
    estimate = attends.cost().on((1e12, 1e9), batch=8, seq=64)
    assert repr(estimate).startswith("Estimate, not measured: ")
    assert set(estimate.bound_by_memory) == set(estimate.per_op)  # 1,000 FLOPs a byte are not there
    assert estimate.seconds == pytest.approx(sum(estimate.per_op.values()))
    assert attends.cost().on("A100").fits is True
    with pytest.raises(WrongArgument, match="There is no device 'B9'"):
        device_of("B9")


@pytest.mark.parametrize("sizes", [(2, 3), (5, 64), (1, 1000)])
def test_a_page_computes_the_same(attends: explorer.Exploration, sizes: tuple[int, int]) -> None:
    """By the table that it is sent, as `widgets/frontend/src/cost.ts` evaluates it."""
    cost = cost_of(attends.record)
    table = table_of(cost)
    factors = [evaluate_formula(formula, sizes) for formula in table.factors]
    products = []
    for product in table.products:
        value = 1
        for factor, power in zip(product[::2], product[1::2], strict=True):
            value *= factors[factor] ** power
        products.append(value)

    def sums(amounts: Any) -> list[int]:
        return [
            sum(
                amounts.scales[term] * products[amounts.products[term]]
                for term in range(amounts.starts[at], amounts.starts[at + 1])
            )
            for at in range(len(amounts.starts) - 1)
        ]

    at = cost.at(dict(zip(cost.symbols, sizes, strict=True)))
    assert [*zip(sums(table.flops), sums(table.read), sums(table.written), strict=True)] == [
        *at.per_op
    ]
    assert sums(table.inputs) == [at.inputs]
    assert table.weights == at.weights == 4 * (32 * 32 + 32)


def test_a_loop_costs_so_much_an_iteration() -> None:
    class Halves(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            from torch._higher_order_ops import while_loop

            def goes_on(x: torch.Tensor) -> torch.Tensor:
                return x.sum() > 1

            def halve(x: torch.Tensor) -> tuple[torch.Tensor]:
                return (x @ x / 2,)

            return while_loop(goes_on, halve, (x,))[0]

    cost = explorer.explore(Halves(), (torch.rand(4, 4),)).cost()
    (loop,) = cost.loops
    assert loop.flops is not None
    assert loop.flops.at(()) == 2 * 64 + 16 + 16 + 1
    assert "per iteration" in repr(cost)
    assert cost.unknown == {"higher_order.while_loop": 1}


def _kept(x: torch.Tensor) -> torch.Tensor:
    h = x.exp()
    return h.repeat(1, 2).sum(1, True) + h


PLANTED: dict[str, tuple[Any, set[str]]] = {
    "two of a wide layer": (lambda x: (x.repeat(1, 50) * 2).sum(1), {"repeat", "mul"}),
    "kept for later": (_kept, {"exp", "repeat"}),
    "a copy of a transposed tensor": (
        lambda x: (x.repeat(9, 9).T.reshape(-1) + 1).sum(),
        {"repeat", "reshape"},
    ),
    "in place": (lambda x: x.repeat(1, 50).mul_(2).sum(1), {"repeat"}),
    "a view keeps what it is a view of": (
        lambda x: x.repeat(9, 9)[:1] + (x + 1).repeat(9, 9)[:1],
        {"repeat", "repeat_1"},
    ),
}
WAITING = {"kept for later": {"exp"}, "a view keeps what it is a view of": {"repeat"}}
"""What the op at the peak does not read, so that computing it later lowers the peak."""


@pytest.mark.parametrize("name", PLANTED)
def test_the_tensors_at_the_peak_are_named(name: str) -> None:
    function, wanted = PLANTED[name]

    class Planted(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return function(x)

    ex = explorer.explore(Planted(), (torch.randn(16, 16),))
    peak = cost_of(ex.record).at().peak
    graph = ex.record.graphs[0]
    large = {
        ex.record.strings[graph.name[node]] for node, size in peak.alive if size * 4 > peak.bytes
    }
    assert large == wanted
    kept = {ex.record.strings[graph.name[tensor.node]] for tensor in peak.waiting}
    assert kept == WAITING.get(name, set())
    assert all(f"of {node} (" in repr(ex.cost()) for node in kept)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [32, 200])
def test_the_peak_of_a_language_model_is_what_a_run_allocates(rows: int) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=300,
        hidden_size=64,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        use_cache=False,
    )
    ids = torch.zeros(2, 16, dtype=torch.long)
    model = LlamaForCausalLM(config).eval()
    ex = explorer.explore(model, (), {"input_ids": ids}, dynamic_shapes="input_ids: batch, seq")
    told = ex.cost().at(batch=3, seq=rows).peak_bytes
    program = ex.program.module()
    given = {"input_ids": torch.zeros(3, rows, dtype=torch.long)}
    assert told == pytest.approx(peak_of(lambda: program(**given)), rel=0.01)


class Learns(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16))
        self.second = nn.Sequential(nn.Linear(16, 32), nn.Sigmoid(), nn.Linear(32, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x)).sum()


@pytest.fixture(scope="module")
def step() -> explorer.Exploration:
    return explorer.explore(Learns(), (torch.randn(8, 16),), joint=True)


def test_what_is_saved_for_the_backward_pass_is_what_autograd_saves(
    step: explorer.Exploration,
) -> None:
    model, x = Learns(), torch.randn(8, 16)
    kept: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        loss = model(x)
    given = {each.untyped_storage().data_ptr() for each in (x, *model.parameters())}
    saved = sum(size for at, size in kept.items() if at not in given)
    training = step.cost().training
    assert training.at(training.saved_bytes) == saved
    assert loss.requires_grad


def test_a_step_is_split_into_its_passes(step: explorer.Exploration) -> None:
    cost = step.cost()
    training = cost.training
    assert training.forward.flops + training.backward.flops == cost.flops
    assert training.at(training.forward.flops) > 2 * 8 * (2 * 16 * 64 + 16 * 32)
    assert "Saved for the backward pass" in repr(cost)
    assert training.optimizer("adamw").state == 2 * 4 * cost.parameters
    with pytest.raises(WrongArgument, match="There is no optimizer 'adom'"):
        training.optimizer("adom")


def test_checkpointing_a_module_saves_what_only_it_keeps(step: explorer.Exploration) -> None:
    assert step.cost().unknown == {}
    training = step.cost().training
    first = training.checkpointing("first")
    assert training.at(first.saved) == 8 * 64 * 4  # of relu; `second` reads its own result
    assert training.at(first.flops) == 2 * 8 * 2 * 16 * 64 + 8 * 64
    with pytest.raises(WrongArgument, match="No op of the forward pass is in a module 'third'"):
        training.checkpointing("third")


def test_a_program_without_a_backward_pass_is_no_step(attends: explorer.Exploration) -> None:
    with pytest.raises(WrongArgument, match="has no backward pass"):
        _ = attends.cost().training


def test_this_machine_is_measured(attends: explorer.Exploration) -> None:
    here = measure_device()
    assert here.flops > 10**8
    assert here.bandwidth > 10**7
    assert "cpu, measured" in repr(attends.cost().on(here))
    assert "cpu, measured" in repr(attends.cost().on("cpu"))
    with pytest.raises(WrongArgument):
        attends.cost().on("xpu:99")
