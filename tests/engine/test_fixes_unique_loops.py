"""Loops over what `torch.unique` finds: a scan, for as many classes as data have."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.shapes import Shapes
from tests.torch_limits import needs_numbers


class Prototypes(nn.Module):
    """Distances to the mean of each class, which a comprehension stacks."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        means = torch.stack([x[y == c].mean(0) for c in torch.unique(y)])
        return torch.cdist(x, means)


class Normalizes(nn.Module):
    """Writes each group's rows, and collects nothing."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        for group in y.unique():
            rows = y == group
            out[rows] = x[rows] - x[rows].mean(0)
        return out


class Adds(nn.Module):
    """Goes over a name for what it finds."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        groups = torch.unique(y)
        total = x.new_zeros(x.shape[1])
        for group in groups:
            total = total + x[y == group].mean(0).abs()
        return total


class AddsWhatIsSet(nn.Module):
    """Goes over what may well be nothing."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = x.new_zeros(x.shape[1])
        for row in y.nonzero():
            total = total + x[row].abs().sum(0)
        return total


ARGS = (torch.randn(4, 6), torch.tensor([0, 1, 0, 1]))


@needs_numbers
@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [Prototypes, Normalizes, Adds])
def test_the_number_of_groups_is_read_at_run_time(kind: type[nn.Module], strict: bool) -> None:
    shapes = Shapes.parse("x: n, _; y: n")
    report = autofix(Request(target=kind(), args=ARGS, shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    first = report.kept[0].fix
    assert "as a scan" in first.title
    assert ("rejects an empty tensor" in first.gives_up) == (kind is not Prototypes)
    program = report.attempt.program.module()
    with torch.no_grad():
        for groups in ([3, 3, 3], [0, 5, 2, 5, 1, 0, 7], [4]):
            y = torch.tensor(groups)
            x = torch.randn(len(y), 6)
            torch.testing.assert_close(program(x, y), kind()(x, y))


@pytest.mark.slow
def test_a_loop_that_may_go_over_nothing_is_no_scan() -> None:
    request = Request(target=AddsWhatIsSet(), args=ARGS, shapes=Shapes.parse("x: n, _; y: n"))
    assert not any("as a scan" in step.fix.title for step in autofix(request).kept)
