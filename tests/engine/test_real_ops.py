"""Custom ops run on real tensors: each planted one is found with its line, and no clean one."""

from __future__ import annotations

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.shapes import Shapes
from export_engine.verify.guarantee import Guarantee
from export_engine.verify.program_under_test import examined
from export_engine.verify.real_ops import real_ops
from tests import planted


def checked(model: torch.nn.Module, shapes: str = "x: *, _") -> Guarantee:
    args = (torch.randn(3, 4),)
    attempt = capture(Request(target=model, args=args, shapes=Shapes.parse(shapes)))
    assert isinstance(attempt, Exported), attempt
    with examined(attempt, describe(attempt), 2) as subject:
        return real_ops(subject)


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
    def __init__(self, op: object) -> None:
        super().__init__()
        self.op = op

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, self.op, lambda x: x.cos(), (x,))  # type: ignore[operator]


def test_an_op_that_did_not_run_is_not_checked() -> None:
    clean = planted.op_plants()[0].clean()
    assert checked(Branches(clean)).verdict == "not checked"
