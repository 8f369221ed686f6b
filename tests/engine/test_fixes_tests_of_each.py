"""Comprehensions whose tests read data, asked with any and all, or summed."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.branches.tensor_questions import asked_as_tensors
from export_engine.fixes.code.branches.tests_of_each import summed
from export_engine.fixes.code.editing.conditions import Unclear


class AnyOf(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if any(row.sum() > 1 and row[0] < 1 for row in x):
            return x * 2
        return x - 1


class AllOf(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not all(row.max() > 0.5 for row in x):
            return x * 2
        return x - 1


class Counted(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / max(sum(1 for row in x if row.sum() > 0), 1)


class CountedOrNone(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = sum(1 for row in x if row.sum() > 0)
        return x.sum() / count if count else x.sum() - 3


class Summed(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * sum(row.mean() * 2 for row in x if row[0] > 0 if row[1] < 1)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [AnyOf, AllOf, Counted, CountedOrNone, Summed])
def test_every_element_is_tested(kind: type[nn.Module], strict: bool) -> None:
    report = autofix(Request(target=kind(), args=(torch.ones(3, 2),), strict=strict))

    assert isinstance(report.attempt, Exported)
    program = report.attempt.program.module()
    torch.manual_seed(0)
    for x in [*torch.randn(8, 3, 2), torch.zeros(3, 2), -torch.ones(3, 2)]:
        torch.testing.assert_close(program(x), kind()(x))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("any(v > 0 for v in x if v < 3)", "filter"),
        ("any(v > w for v in x for w in x)", "several loops"),
        ("any((y := v) > 0 for v in x)", "binds a name"),
    ],
)
def test_what_is_asked_of_some_elements_is_left(line: str, reason: str) -> None:
    with pytest.raises(Unclear, match=reason):
        asked_as_tensors(f"def f(x):\n    return {line}\n", 2)


def test_a_sum_of_everything_is_left() -> None:
    for line in ("sum(v for v in x)", "sum((v for v in x if v > 0), 3)", "max(v for v in x if v)"):
        with pytest.raises(Unclear, match="nothing at that line is a sum"):
            summed(f"def f(x):\n    return {line}\n", 2)
    with pytest.raises(Unclear, match="several loops"):
        summed("def f(x):\n    return sum(v for w in x for v in w if v > 0)\n", 2)
