"""Failures become short scripts that fail the same."""

from __future__ import annotations

import ast
import functools
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import torch
from torch import nn

from explorer.results.reproduction import Reproduced
from export_engine.attempt import Request
from export_engine.capture import capture
from export_engine.process import another_python
from export_engine.reproduce import NotReproduced, reproduce
from export_engine.reproduce.literals import tensor_text, torch_module
from export_engine.reproduce.reduction import CALL, Reduction
from export_engine.reproduce.script import script_of
from export_engine.reproduce.smaller_call import smaller_calls
from export_engine.reproduce.trials import Outcome, Trials
from tests.seed_cases import BranchOnSum, attempted, seed_cases

SCALE = 3


@pytest.fixture(scope="module")
def one_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Searches run their scripts in forks of one process: starting one takes five seconds."""
    module = "export_engine.reproduce.trial_process"
    process = another_python(["-m", module], tmp_path_factory.mktemp("trials"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trials, "_ensure_process", lambda _: process)
        patch.setattr(Trials, "_end", lambda _: None)
        yield
    process.kill()
    process.communicate()


def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * SCALE


class Deep(nn.Module):
    def __init__(self, branch: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.branch = branch
        self.register_buffer("offset", torch.zeros(4))
        self.title = "<b>'''\n__import__('os')"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.branch(scaled(self.layers(x)) + self.offset)


CALLS: list[int] = []


class Remembers(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        CALLS.append(1)
        return x * len(CALLS)


@pytest.mark.slow
def test_every_seed_case_is_written_as_a_script_without_values_of_floats():
    for case in seed_cases():
        attempt = attempted(case.name, False)
        text = script_of(attempt.request)
        assert CALL in text
        assert "seed_cases" not in text
        assert "torch.tensor([0." not in text
        compile(text, case.name, "exec")


def test_state_is_written_without_weights_and_text_of_the_model_stays_a_literal():
    model = Deep(BranchOnSum())
    text = script_of(Request(target=model, args=(torch.ones(2, 4),)))
    assert "model.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU())" in text
    assert "model.register_buffer('offset', torch.randn(4))" in text
    assert "SCALE = 3" in text
    assert "title" not in text  # nothing reads it
    model.shown = model.title
    source = script_of(Request(target=_Reads(model.title), args=(torch.ones(2),)))
    strings = [each.value for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Constant)]
    assert model.title in strings


class _Reads(nn.Module):
    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + len(self.title)


def test_a_function_is_wrapped_with_its_parameters_and_ops_are_declared():
    text = script_of(Request(target=scaled, args=(torch.ones(2),)))
    assert "def forward(self, x):\n        return scaled(x)" in text
    case = next(each for each in seed_cases() if each.name == "unfaked-library-op")
    text = script_of(Request(target=case.target, args=case.args))
    assert "torch.library.define('seeds::unfaked', '(Tensor x) -> Tensor')" in text


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (torch.rand(2, 3), "torch.randn(2, 3)"),
        (torch.tensor(7), "torch.tensor(7)"),
        (torch.tensor([True, False]), "torch.tensor([True, False])"),
        (torch.zeros(2, dtype=torch.int32), "torch.tensor([0, 0], dtype=torch.int32)"),
        (torch.rand(2).half(), "torch.randn(2, dtype=torch.float16)"),
    ],
)
def test_tensors_are_written(tensor: torch.Tensor, text: str):
    assert tensor_text(tensor) == text


@pytest.mark.parametrize(
    "text",
    [
        "nn.Conv2d(3, 4, (3, 3), padding=(1, 1))",
        "nn.LSTM(4, 8, batch_first=True)",
        "nn.LayerNorm((4,), bias=False)",
        "nn.Embedding(5, 2)",
    ],
)
def test_modules_of_torch_are_made_as_they_were(text: str):
    made = eval(text)
    again = eval(torch_module(made, type(made)))
    sizes = {name: each.shape for name, each in made.state_dict().items()}
    assert {name: each.shape for name, each in again.state_dict().items()} == sizes


def test_a_reduction_keeps_what_is_needed():
    text = (
        "import os\nclass A:\n\n    def f(self, x):\n        for i in range(3):\n"
        "            x = x + needed(x * 2)\n        return x\n\n"
        "    def g(self):\n        return 1\n"
        "sizes = [64, 64, 7]\ntorch.export.export(A(), (1,))"
    )
    reduction = Reduction(text, lambda each: "needed(x" in each and "sizes" in each)
    reduction.run()
    kept = "class A:\n\n    def f(self, x):\n        x = needed(x)\nsizes = []"
    assert reduction.text.startswith(kept)
    assert reduction.text.endswith("torch.export.export(A(), ())")
    assert not {"64", "import", "def g", "for "} & set(reduction.text.split())


@pytest.mark.after_check
def test_the_smallest_part_that_fails_the_same_is_found_and_the_model_is_as_before():
    model = Deep(nn.Sequential(nn.ReLU(), BranchOnSum()))
    failed = capture(Request(target=model, args=(torch.ones(2, 4),)))
    before = {name: each.clone() for name, each in model.state_dict().items()}
    from export_engine.diagnose import diagnose

    found = next(smaller_calls(failed, diagnose(failed).stack))
    assert type(found.target) is BranchOnSum
    assert not any(each._forward_pre_hooks for each in model.modules())
    assert all(torch.equal(each, before[name]) for name, each in model.state_dict().items())


@pytest.mark.slow
@pytest.mark.usefixtures("one_process")
def test_a_failure_in_a_deep_model_is_a_few_lines_that_fail_the_same(tmp_path: Path):
    failed = capture(Request(target=Deep(BranchOnSum()), args=(torch.ones(2, 4),)))
    found = reproduce(failed, seconds=40)
    assert (found.code, found.raised) == ("EX111", type(failed.error).__name__)
    assert found.lines <= 16
    assert found.needs == ()
    assert "Linear" not in found.script


@pytest.mark.slow
@pytest.mark.usefixtures("one_process")
def test_a_program_with_a_fake_tensor_in_it_prints_it(monkeypatch: pytest.MonkeyPatch):
    def prove_in_a_fork(trials: Trials, text: str) -> Outcome:
        return trials.run(text, time.monotonic() + 60)

    monkeypatch.setattr(Trials, "prove", prove_in_a_fork)
    found = reproduce(attempted("data-write", True), seconds=20)
    assert (found.code, found.raised) == ("EX152", "")
    assert found.script.rstrip().endswith(".constants)")
    assert "StandInHeld" not in found.script
    assert "export a program with a fake tensor" in Reproduced(found).sentence


@pytest.mark.slow
def test_a_script_that_registers_an_operator_is_proved():
    text = script_of(attempted("unfaked-library-op", False).request)
    with closing(Trials(compared=False)) as trials:
        proof = trials.prove(text)
    assert proof == ("EX121", "UnsupportedOperatorException", "UnsupportedOperatorException")


@pytest.mark.slow
@pytest.mark.usefixtures("one_process")
def test_a_wrong_answer_is_shown_and_an_interrupt_keeps_the_shortest():
    exported = capture(Request(target=Remembers(), args=(torch.ones(3),)))

    def progress(step: object) -> None:
        if step.done > 4:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    CALLS.clear()
    found = reproduce(exported, seconds=60, progress=progress)
    assert found.code == "wrong answer"
    assert found.raised == "AssertionError"
    assert not found.minimal
    assert "assert_close(program(*other), model(*other))" in found.script


@pytest.mark.slow
def test_what_cannot_be_written_is_said():
    unwritable = functools.partial(print, object())
    failed = capture(Request(target=_Holds(unwritable), args=(torch.ones(2),)))
    with pytest.raises(NotReproduced, match=r"cannot be written|no call"):
        reproduce(failed, seconds=0)


class _Holds(nn.Module):
    def __init__(self, held: object) -> None:
        super().__init__()
        self.held = held

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.held()
        raise RuntimeError("always")
