"""Custom ops run on real tensors: each planted one is found with its line, and no clean one."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.shapes import Shapes
from export_engine.verify.guarantee import Guarantee
from export_engine.verify.program_under_test import examine
from export_engine.verify.real_ops import check_ops
from tests import planted


def checked(model: torch.nn.Module, shapes: str = "x: *, _") -> Guarantee:
    args = (torch.randn(3, 4),)
    attempt = capture(Request(target=model, args=args, shapes=Shapes.parse(shapes)))
    assert isinstance(attempt, Exported), attempt
    with examine(attempt, describe(attempt), 2) as subject:
        return check_ops(subject)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(planted.op_plants())))
def test_an_op_that_is_not_what_it_says_is_found(number: int) -> None:
    plant = planted.op_plants()[number]
    found = checked(planted.CallsOp(plant.make()))
    assert found.verdict == "broken", found
    assert plant.says in found.sentence
    assert "(planted.py:" in found.sentence, "the line of the user's that calls it"
    assert found.node
    assert checked(planted.CallsOp(plant.clean())).verdict == "holds"


def test_torchs_own_ops_are_taken_at_their_word() -> None:
    assert checked(planted.Relu()).verdict == "not applicable"


class Branches(torch.nn.Module):
    def __init__(self, op: object, least: float = 0.0) -> None:
        super().__init__()
        self.op = op
        self.least = least
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * self.scale

        def one(x: torch.Tensor) -> torch.Tensor:
            return self.op(x).sin()  # type: ignore[operator]

        return torch.cond(x.sum() > self.least, one, lambda x: x.cos(), (x,))


class Inside(torch.nn.Module):
    """In a block without gradients, which becomes a graph of its own."""

    def __init__(self, op: object) -> None:
        super().__init__()
        self.op = op

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = self.op(x * 2)  # type: ignore[operator]
        return y * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [Branches, lambda op: Branches(op, 1e9), Inside], ids=["taken", "not taken", "block"]
)
@pytest.mark.parametrize("number", [0, 6])
def test_an_op_in_a_graph_inside_is_checked_too(model: Any, number: int) -> None:
    plant = planted.op_plants()[number]
    found = checked(model(plant.make()))
    assert found.verdict == "broken", found
    assert plant.says in found.sentence
    assert found.node
    assert checked(model(plant.clean())).verdict == "holds"


@pytest.mark.slow
def test_an_op_that_did_not_run_is_not_checked() -> None:
    def refuses(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("not for these values")

    op = planted.custom(refuses, torch.empty_like)
    found = checked(Branches(op, 1e9))
    assert found.verdict == "not checked"
    assert "Not run on real tensors" in found.sentence
