"""Branches that read several views of one tensor, which torch.cond does not take as they are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.branches.branch_to_cond import branch_to_cond
from export_engine.fixes.code.editing.conditions import Unclear


class Box(nn.Module):
    def forward(self, mask: torch.Tensor) -> torch.Tensor:
        ys, xs = torch.where(mask > 0)
        if ys.numel() == 0:
            return torch.zeros(4, dtype=torch.long)
        return torch.stack([xs.min(), ys.min(), xs.max(), ys.max()])


class Centre(nn.Module):
    def forward(self, mask: torch.Tensor) -> torch.Tensor:
        found = mask.nonzero(as_tuple=True)
        ys, xs = found
        if len(ys) == 0:
            centre = torch.zeros(2)
        else:
            centre = torch.stack([xs.float().mean(), ys.float().mean()])
        return centre + 1


class Pieces(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        if a.mean() > b.mean():
            y = torch.linalg.svdvals(a)
            y = y.sum() * b
        else:
            y = b - a
        return y + a


MASKS = [torch.zeros(5, 6), torch.ones(5, 6), torch.eye(5, 6)]
HALVES = [torch.arange(8.0).reshape(2, 4), -torch.arange(8.0).reshape(2, 4)]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("model", "inputs"), [(Box(), MASKS), (Centre(), MASKS), (Pieces(), HALVES)]
)
def test_views_of_one_tensor_are_given_to_cond_as_clones(
    model: nn.Module, inputs: Sequence[torch.Tensor], strict: bool
) -> None:
    report = autofix(Request(target=model, args=(inputs[1],), strict=strict))

    assert isinstance(report.attempt, Exported)
    assert any("clones of what shares memory" in step.fix.title for step in report.kept)
    program = report.attempt.program.module()
    for each in inputs:
        assert torch.equal(program(each), model(each))


@pytest.mark.parametrize(
    ("made", "given"),
    [
        ("a, b = x.chunk(2)", "(a.clone(), b.clone())"),
        ("a = c[0]\n    b = x", "(a.clone(),)"),
        ("(a, b) = torch.where(x)", "(a.clone(), b.clone())"),
    ],
)
def test_only_what_may_share_memory_is_cloned(made: str, given: str) -> None:
    text = f"import torch\ndef f(x, c):\n    {made}\n"
    text += "    if c.sum() > 0:\n        return a + b + c\n    return a - b\n"
    written = branch_to_cond(text, 2 + made.count("\n") + 2, apart=True).text
    assert f"_then, _otherwise, {given})" in written


def test_where_nothing_is_shared_there_is_nothing_to_clone() -> None:
    text = (
        "import torch\ndef f(x, y):\n    if x.sum() > 0:\n        return x + y\n    return x - y\n"
    )
    with pytest.raises(Unclear, match="no two names"):
        branch_to_cond(text, 3, apart=True)
