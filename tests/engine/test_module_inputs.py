"""A module that a call takes as an input, whose parameters torch makes inputs of the program."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import explorer
from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.torch_internals import is_container
from export_engine.verify import check
from export_engine.verify.compare_outputs import compare_named


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.register_buffer("by", torch.full((3,), 2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) * self.by


class Takes(nn.Module):
    def forward(self, x: torch.Tensor, layer: nn.Module) -> torch.Tensor:
        made: torch.Tensor = layer(x) + 1
        return made


@pytest.mark.after_check
def test_its_parameters_are_inputs_by_their_names_and_the_program_is_compared() -> None:
    attempt = capture(Request(target=Takes(), args=(torch.randn(4, 3), Scaled())))
    assert isinstance(attempt, Exported)
    paths = [each.path for each in describe(attempt).signature.inputs]
    assert paths == ["x", 'layer."inner.weight"', 'layer."inner.bias"', "layer.by"]
    assert check(attempt).verdict == "agrees"
    assert not is_container(Scaled)


def test_two_modules_are_one_where_they_hold_the_same() -> None:
    one, other = Scaled(), Scaled()
    assert not compare_named({"layer": one}, {"layer": other}).same
    other.load_state_dict(one.state_dict())
    assert compare_named({"layer": one}, {"layer": other}).same
    other.register_buffer("more", torch.ones(1))
    found = compare_named({"layer": one}, {"layer": other})
    assert found.detail == "`layer`: a module with different parameters or buffers"


def loss_of(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return model(x).square().mean()


@pytest.mark.after_check
def test_the_program_of_a_function_of_a_module_runs() -> None:
    ex = explorer.explore(loss_of, (Scaled(), torch.randn(4, 3)))
    assert "deprecated" not in str(ex)  # torch calls a function of its own that is
    eager, program = ex.run("cpu", ["eager", "program"]).rows
    assert [eager.outcome, program.outcome] == ["agrees", "agrees"]
