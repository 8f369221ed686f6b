"""What a program writes is there at the next call, on each backend that is said to agree."""

from __future__ import annotations

import copy
import importlib.util
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from export_engine.record import RunRow
from export_engine.run import backend_registry
from export_engine.run.backend import Job, Ready
from export_engine.torch_internals import callable_module
from tests.planted_state import STATEFUL, Copies, Stateful

NEEDED = {"onnx": "onnxruntime", "openvino": "openvino", "executorch": "executorch"}
KEEPS_NONE = ("onnx", "openvino")
"""Runtimes whose calls are functions of their inputs alone."""


class Forgets:
    """A backend each of whose calls starts anew, and writes to no input."""

    name = "forgets"
    title = "forgetful backend"

    def missing(self, device: str) -> str | None:
        return None

    def prepare(self, job: Job) -> Ready:
        program = copy.deepcopy(job.program)

        def call() -> Any:
            module = callable_module(copy.deepcopy(program))
            return module(*copy.deepcopy(job.args), **copy.deepcopy(dict(job.kwargs)))

        return Ready(call=call)


class StartsFromZero(Forgets):
    """One that keeps state, and has no start values."""

    name = "zeros"
    title = "backend of zeros"

    def prepare(self, job: Job) -> Ready:
        module = callable_module(copy.deepcopy(job.program))
        with torch.no_grad():
            for _, value in module.named_buffers():
                value.zero_()
        return Ready(call=lambda: module(*job.args, **job.kwargs))


@pytest.fixture(autouse=True)
def planted_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    built_in = (*backend_registry.BUILT_IN, Forgets, StartsFromZero)
    monkeypatch.setattr(backend_registry, "BUILT_IN", built_in)


def rows_of(stateful: Stateful, *backends: str) -> tuple[explorer.Exploration, list[RunRow]]:
    torch.manual_seed(0)
    ex = explorer.explore(stateful.make().eval(), stateful.args())
    assert ex.ok, ex
    return ex, list(ex.run(backend=backends).rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", STATEFUL)
def test_a_backend_that_forgets_has_no_tick(name: str) -> None:
    each = STATEFUL[name]

    ex, (program, forgets) = rows_of(each, "program", "forgets")

    assert program.outcome == "agrees", program
    assert program.calls == 3
    assert all(f"`{written}`" in program.sentence for written in each.written)
    assert forgets.outcome == "differs", forgets
    assert set(forgets.lost) & set(each.written)
    assert any(f"`{written}`" in forgets.sentence for written in each.written)
    assert ex.release_report().verdict == "not ready"


@pytest.mark.slow
def test_start_values_that_a_file_does_not_store_are_told() -> None:
    _, (counter,) = rows_of(STATEFUL["counter"], "zeros")
    _, (cache,) = rows_of(STATEFUL["cache slice"], "zeros")
    _, (norm,) = rows_of(STATEFUL["batch norm"], "zeros")

    assert counter.outcome == "differs"
    assert (
        "does not start from the model's values of buffer `calls`: it starts from 0 instead of 5"
        in (counter.sentence)
    )
    assert cache.outcome == "agrees"  # it starts from zeros in the model, too
    assert norm.outcome == "differs"
    assert "`norm.running_var`" in norm.sentence


def test_the_users_model_and_inputs_are_as_before() -> None:
    each = STATEFUL["input"]
    model, (x, state) = each.make(), each.args()
    ex = explorer.explore(model, (x, state))

    ex.run(backend="program,forgets")

    assert torch.equal(state, torch.zeros(3))
    assert torch.equal(ex.program.module()(x, state.clone()), torch.full((3,), 2.0))


def test_what_nothing_writes_is_called_once() -> None:
    ex = explorer.explore(nn.Linear(3, 2), (torch.ones(4, 3),))

    (row,) = ex.run(backend="forgets").rows

    assert row.outcome == "agrees"
    assert row.calls == 1


class Constant(nn.Module):
    """A counter that is no buffer: torch.export makes a constant of it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = torch.tensor([1.0])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return x + self.calls


def test_a_constant_that_is_written_is_state_too() -> None:
    model = Constant()
    ex = explorer.explore(model, (torch.zeros(3),))

    program, forgets = ex.run(backend="program,forgets").rows

    assert program.outcome == "agrees"
    assert forgets.outcome == "differs"
    assert torch.equal(model.calls, torch.tensor([1.0]))
    assert torch.equal(ex.program.constants["calls"], torch.tensor([1.0]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["counter", "cache slice"])
def test_onnx_runtime_keeps_no_buffer(name: str) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install '.[onnx]'")

    ex, (row,) = rows_of(STATEFUL[name], "onnx")

    assert row.outcome == "differs"
    assert f"does not keep buffer `{STATEFUL[name].written[0]}`" in row.sentence
    assert "✓" not in str(ex.run(backend="onnx"))
    assert ex.release_report().verdict == "not ready"


@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["inductor", "aoti", "onnx", "openvino", "executorch"])
@pytest.mark.parametrize("name", STATEFUL)
def test_no_backend_is_ticked_wrongly(name: str, backend: str) -> None:
    """Eager is the judge: what agrees there has been called several times, from the same start."""
    if backend in NEEDED and importlib.util.find_spec(NEEDED[backend]) is None:
        pytest.skip(f"{backend} is not installed: pip install '.[{backend}]'")
    each = STATEFUL[name]

    _, (row,) = rows_of(each, backend)

    assert row.outcome in ("agrees", "differs", "failed")
    if row.outcome == "agrees":
        assert backend not in KEEPS_NONE
        assert row.calls == 3
    if backend == "inductor":
        assert row.outcome == "agrees", row


class Mode(nn.Module):
    def __init__(self, norm: nn.Module, training: bool) -> None:
        super().__init__()
        self.norm, self.mode = norm, training

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n: Any = self.norm
        return nn.functional.batch_norm(
            x, n.running_mean, n.running_var, n.weight, n.bias, self.mode
        )


class InstanceMode(Mode):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n: Any = self.norm
        return nn.functional.instance_norm(
            x, n.running_mean, n.running_var, use_input_stats=self.mode
        )


@pytest.mark.slow
@pytest.mark.parametrize("mode", [Mode, InstanceMode])
def test_statistics_that_one_program_writes_and_another_reads(mode: type[Mode]) -> None:
    norm, x = nn.BatchNorm1d(4), torch.randn(3, 4, 5)

    kit = explorer.explore_many(
        {"train": (mode(norm, True), (x,)), "eval": (mode(norm, False), (x,))}
    )
    twin = explorer.explore_many(
        {"one": (mode(norm, False), (x,)), "other": (mode(norm, False), (x,))}
    )

    (state,) = kit.findings
    assert state.kind == "state"
    assert "`train` writes the buffer `norm.running_mean`, `norm.running_var`" in state.sentence
    assert not twin.findings


def test_a_plain_copy_is_state_as_well() -> None:
    model = Copies()
    kit = explorer.explore_many({"write": (model, (torch.ones(3),)), "read": (Reads(model), ())})

    assert [each.kind for each in kit.findings] == ["state"]


class HalvesWeight(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            self.w.div_(2)
        return x @ self.w


def test_verify_says_of_a_parameter_as_well_that_calls_change_it() -> None:
    ex = explorer.explore(HalvesWeight(), (torch.ones(3, 4),))
    state = next(each for each in ex.verify().guarantees if each.name == "state")
    assert state.verdict == "holds"
    assert "which change w." in state.sentence


class Reads(nn.Module):
    def __init__(self, of: Copies) -> None:
        super().__init__()
        self.of = of

    def forward(self) -> torch.Tensor:
        return self.of.last * 2


class Returned(nn.Module):
    """Returns the buffer itself, which Verify puts back after each call."""

    def __init__(self, fault: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.fault = fault

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.calls += 1 if torch.compiler.is_exporting() else 1 + self.fault
        return x * 2, self.calls


def test_a_buffer_that_is_returned_is_compared_as_it_was_returned() -> None:
    right = explorer.explore(Returned(), (torch.ones(3),)).verify()
    wrong = explorer.explore(Returned(fault=1.0), (torch.ones(3),)).verify()

    assert {row.name for row in right.guarantees if row.verdict == "broken"} == set()
    assert "sound" in {row.name for row in wrong.guarantees if row.verdict == "broken"}


class Draws(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand(x.shape, generator=self.generator)


def test_a_generator_of_the_models_own_is_state() -> None:
    model = Draws()
    before = model.generator.get_state()
    ex = explorer.explore(model, (torch.ones(3),))
    state = next(each for each in ex.verify().guarantees if each.name == "state")
    assert state.verdict == "holds"
    assert "which change torch.Generator 1." in state.sentence
    assert torch.equal(model.generator.get_state(), before)
