"""A module that `forward` copies and only calls is called itself."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.calls.module_copies import uncopied
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.shapes import Shapes

BOTH_MODES = pytest.mark.parametrize("strict", [False, True])


class Copied(nn.Module):
    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        block = copy.deepcopy(self.block)
        found: torch.Tensor = block(x)
        return found


class Counts(nn.Module):
    """Answers otherwise each time: only of a copy is every call the first."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


@pytest.mark.slow
@BOTH_MODES
def test_the_module_is_called_instead_of_its_copy(strict: bool) -> None:
    model = Copied(nn.Linear(4, 4)).eval()
    shapes = Shapes.parse("x: batch, _")
    request = Request(target=model, args=(torch.rand(3, 4),), shapes=shapes, strict=strict)
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    assert "instead of its copy" in report.kept[0].fix.title
    for batch in (1, 7):
        x = torch.rand(batch, 4)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.slow
@BOTH_MODES
@pytest.mark.parametrize("block", [Counts().eval(), nn.BatchNorm1d(4).train()])
def test_a_module_that_a_call_changes_is_left_copied(block: nn.Module, strict: bool) -> None:
    model = Copied(block)
    model.training = block.training
    report = autofix(Request(target=model, args=(torch.rand(3, 4),), strict=strict))
    assert not any("copy" in step.fix.title for step in report.kept)
    assert not isinstance(report.attempt, Exported) or not report.kept


LEFT = [
    "m = copy.deepcopy(self.m)\n    m.bias = x\n    return m(x)",
    "m = copy.deepcopy(self.m)\n    return m",
    "m = copy.deepcopy(x)\n    return m(x)",
    "m = copy.copy(self.m)\n    return m(x)",
]


@pytest.mark.parametrize("body", LEFT)
def test_a_copy_that_is_more_than_called_is_left(body: str) -> None:
    with pytest.raises(Unclear):
        uncopied(f"import copy\n\ndef f(self, x):\n    {body}\n", 4)


def test_a_copy_that_is_called_at_once_is_the_module() -> None:
    text = "import copy\n\ndef f(self, x):\n    return copy.deepcopy(self.m[0])(x)\n"
    assert "return self.m[0](x)" in uncopied(text, 4).text
