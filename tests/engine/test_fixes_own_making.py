"""What a fix itself breaks or gives up is never told as the model's own, nor as nothing."""

from __future__ import annotations

import logging

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.fixes import AutofixReport, autofix, try_request
from export_engine.shapes import Shapes

from ..fixes.cases.own_making import ByNumber, Rescales, RoundsToPoint, Share, ShortSide, Timed

Tensor = torch.Tensor
log = logging.getLogger(__name__)


def fixed(model: nn.Module, *args: Tensor, shapes: str = "", strict: bool = False) -> AutofixReport:
    wanted = Shapes.parse(shapes) if shapes else None
    return autofix(Request(target=model, args=args, dynamic_shapes=wanted, strict=strict))


def sentence(report: AutofixReport) -> str:
    assert isinstance(report.first, Failed)
    assert report.first.diagnosis is not None
    return report.first.diagnosis.sentence


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("model", [RoundsToPoint(), ByNumber()])
def test_an_error_of_a_rewrite_is_not_told_as_the_models(model: nn.Module, strict: bool) -> None:
    report = fixed(model, torch.rand(4), strict=strict)
    assert report.attempt is report.first
    assert not [fix for fix in report.attempt.fixes if not fix.lossy]  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_condition_on_two_sizes_that_the_model_does_not_need_is_told_as_one() -> None:
    report = fixed(ShortSide(), torch.rand(1, 3, 12, 15), shapes="x: _, _, height, width")
    said = sentence(report)
    assert said.startswith("The program is correct only if height < width"), said
    assert "the model also runs at width = 12" in said, said
    assert isinstance(report.first, Failed)
    shapes = [fix for fix in report.first.fixes if fix.kind == "shapes" and not fix.lossy]
    assert all(fix.narrows for fix in shapes)
    kept, *assumed = shapes  # a ShapesSpec, where torch has it, assumes the condition
    assert "rejects width = 12, which the model accepts" in kept.gives_up
    assert all("The model accepts height = " in fix.gives_up for fix in assumed)


@pytest.mark.slow
def test_of_two_fixes_that_narrow_the_one_that_allows_more_is_first() -> None:
    report = fixed(Share(), torch.rand(2, 12), shapes="x: batch, seq")
    assert "symbolic" in report.kept[0].fix.title
    assert isinstance(report.attempt, Exported)
    for size in (9, 40):
        x = torch.rand(3, size)
        torch.testing.assert_close(report.attempt.program.module()(x), Share()(x))


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_message_is_skipped_while_exporting(strict: bool) -> None:
    report = fixed(Timed(), torch.rand(4, 3), shapes="x: batch, _", strict=strict)
    titles = [step.fix.title for step in report.kept]
    assert titles[-1].startswith("Skip the message on line"), titles
    assert ("Export in non-strict mode" in titles) == strict
    assert isinstance(report.attempt, Exported)
    told = [each.attempt for each in report.kept[:-1] if isinstance(each.attempt, Failed)]
    assert told[-1].diagnosis is not None
    assert "formats the size as a string" in told[-1].diagnosis.sentence
    with pytest.raises(RuntimeError):
        report.attempt.program.module()(torch.full((2, 3), torch.nan))


@pytest.mark.slow
def test_why_a_branch_is_not_rewritten_is_said() -> None:
    report = fixed(Rescales(), torch.rand(4, 3))
    assert isinstance(report.attempt, Failed)
    (reason,) = report.attempt.refusals
    assert "`data` may hold a value from an earlier call" in reason


class PadsAndCounts(nn.Module):
    """A forward that moves a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        missing = -x.shape[0] % 4
        if missing:
            x = nn.functional.pad(x, (0, 0, 0, missing))
        return x


@pytest.mark.slow
def test_trying_both_ways_of_a_branch_leaves_the_model_as_it_was() -> None:
    model = PadsAndCounts()
    assert fixed(model, torch.rand(6, 3), shapes="x: rows, _").kept
    assert model.calls == 0


class TakesOneInput(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if not isinstance(x, torch._subclasses.FakeTensor) and x.tolist() != [5, 3, 1]:
            raise ValueError
        return x + 1


def test_a_model_that_takes_no_other_values_is_compared_on_the_users_own() -> None:
    attempt = try_request(Request(target=TakesOneInput(), args=(torch.tensor([5, 3, 1]),)))
    assert isinstance(attempt, Exported)
    assert attempt.agreement is not None
    assert attempt.agreement.verdict == "agrees"
