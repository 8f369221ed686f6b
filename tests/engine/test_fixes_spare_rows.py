"""A mask with a row for an index of no expert: the loop runs for those there are."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.shapes import Shapes


class Experts(nn.Module):
    def __init__(self, there: int = 4) -> None:
        super().__init__()
        self.count, self.there = 4, there
        self.weights = nn.Parameter(torch.randn(there * 8, 8))

    def forward(self, x: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        mask = nn.functional.one_hot(chosen, num_classes=self.count + 1).permute(1, 0)
        hit = torch.greater(mask.sum(dim=-1), 0).nonzero()
        for row in hit:
            row = row[0]  # noqa: PLW2901 - as models of transformers do
            (at,) = torch.where(mask[row])
            weight = self.weights.view(self.there, 8, 8)[row]
            out.index_add_(0, at, x[at] @ weight)
        return out


@pytest.mark.slow
def test_a_spare_row_of_a_mask_is_no_iteration_and_no_index_of_it_passes() -> None:
    torch.manual_seed(0)
    model = Experts()
    args = (torch.randn(6, 8), torch.tensor([0, 1, 1, 3, 0, 1]))
    shapes = Shapes.parse("x: tokens, _; chosen: tokens")

    report = autofix(Request(target=model, args=args, shapes=shapes))

    assert [step.fix.title for step in report.steps] == ["Run the loop in line 24 for every index"]
    assert not report.steps[0].fix.lossy
    assert isinstance(report.attempt, Exported)
    program = report.attempt.program.module()
    x, chosen = torch.randn(3, 8), torch.tensor([2, 3, 2])
    torch.testing.assert_close(program(x, chosen), model(x, chosen))
    beyond = torch.tensor([2, 4, 0])
    with pytest.raises(IndexError):
        model(x, beyond)
    with pytest.raises(RuntimeError, match="out of range"):
        program(x, beyond)


@pytest.mark.slow
def test_a_row_that_has_an_expert_is_an_iteration() -> None:
    torch.manual_seed(0)
    model = Experts(there=5)
    args = (torch.randn(6, 8), torch.tensor([0, 1, 4, 3, 0, 1]))
    shapes = Shapes.parse("x: tokens, _; chosen: tokens")

    report = autofix(Request(target=model, args=args, shapes=shapes))

    assert isinstance(report.attempt, Exported)
    x, chosen = torch.randn(3, 8), torch.tensor([2, 4, 0])
    torch.testing.assert_close(report.attempt.program.module()(x, chosen), model(x, chosen))
