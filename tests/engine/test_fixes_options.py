"""Options of the export, where bounds would reject sizes that the model takes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.diagnose import is_unrolled
from export_engine.fixes import autofix
from export_engine.fixes.automatic import AutofixReport
from export_engine.shapes import Shapes
from export_engine.source import Location

from ..fixes.cases.options import (
    DoublesWholeFrames,
    DropsTheLast,
    PadsToEvenSides,
    PadsToFrames,
    SwapsHalves,
)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("model", [SwapsHalves(), PadsToFrames(), DropsTheLast()])
def test_all_sizes_are_kept_that_bounds_would_reject(model: nn.Module, strict: bool) -> None:
    report = _fixed(model, strict)
    assert isinstance(report.attempt, Exported), report
    assert not any(each.fix.narrows for each in report.kept), report
    program = report.attempt.program.module()
    for size in (2, 3, 5, 8, 13, 16, 17, 40):
        x = _example(model, size)
        torch.testing.assert_close(program(x), model(x))


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_guard_that_torch_would_drop_is_not_left_to_it(strict: bool) -> None:
    model = DoublesWholeFrames()
    report = _fixed(model, strict)
    assert isinstance(report.attempt, Exported), report
    program = report.attempt.program.module()
    for size in (8, 16, 24, 13, 33):
        x = _example(model, size)
        try:
            made = program(x)
        except (AssertionError, RuntimeError):
            continue
        torch.testing.assert_close(made, model(x))


def _fixed(model: nn.Module, strict: bool) -> AutofixReport:
    shapes = Shapes.parse("x: batch, time" + (", _" if _example(model, 3).dim() == 3 else ""))
    args = (_example(model, 35 if isinstance(model, DoublesWholeFrames) else 10),)
    return autofix(Request(target=model, args=args, dynamic_shapes=shapes, strict=strict))


def _example(model: nn.Module, size: int) -> torch.Tensor:
    return torch.randn(2, size, *([] if "Frames" in type(model).__name__ else [4]))


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_size_beside_the_example_that_is_rejected_is_said(strict: bool) -> None:
    model, shapes = PadsToEvenSides(), Shapes.parse("x: batch, _, h, w")
    request = Request(
        target=model, args=(torch.randn(1, 3, 33, 45),), dynamic_shapes=shapes, strict=strict
    )
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report
    program, refused = report.attempt.program.module(), False
    for sides in ((33, 45), (34, 46), (12, 13), (7, 8)):
        x = torch.randn(2, 3, *sides)
        try:
            made = program(x)
        except (AssertionError, RuntimeError):
            refused = True
            continue
        torch.testing.assert_close(made, model(x))
    assert any(each.fix.narrows for each in report.kept) or not refused, report


class RecursBehindAConvolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(3, 4, 3, stride=2)
        self.rnn = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.conv(x).mT
        steps: torch.Tensor = self.rnn(rows)[0]
        return steps


def test_a_recurrent_module_is_unrolled_like_a_loop() -> None:
    """No option is tried on it: each would export all of its steps again."""
    model = RecursBehindAConvolution()
    code = type(model).forward.__code__
    conv, rnn = (Location(code.co_filename, code.co_firstlineno + at, "forward") for at in (1, 2))
    assert is_unrolled((rnn,), model)
    assert not is_unrolled((conv,), model)
    assert not is_unrolled((rnn,))
