"""Fixes of shapes beyond the founding cases."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.fixes import autofix, explain, export_options, shapes
from export_engine.shapes import Shapes

from ..fixes.cases.shapes import (
    AnotherKeyForOdd,
    FixedHead,
    Growing,
    OnlySomeBatches,
    PoolsToAQuarter,
    ResizesTable,
)


@pytest.mark.slow
def test_sizes_that_the_model_hardly_takes_may_stay_as_they_are() -> None:
    wanted = Shapes.parse("image: batch, _, h, w")
    request = Request(target=FixedHead(), args=(torch.randn(2, 3, 16, 16),), dynamic_shapes=wanted)
    attempt = capture(request)
    assert isinstance(attempt, Failed)
    varying, kept = shapes.suggest_shapes(dataclasses.replace(attempt, diagnosis=diagnose(attempt)))
    assert "The model accepts few other sizes. With batch = " in varying.gives_up
    assert "mat1 and mat2 shapes cannot be multiplied" in varying.gives_up
    assert kept.title == "Keep h, w at the size of the example"
    assert kept.lossy
    assert kept.after == "image: batch, _, _, _"
    assert isinstance(capture(kept.apply(request)), Exported)


@pytest.mark.slow
def test_a_condition_that_only_the_bounded_trace_comes_to_is_solved_too() -> None:
    request = Request(
        target=PoolsToAQuarter(),
        args=(torch.randn(1, 1, 30, 20),),
        shapes=Shapes.parse("x: _, _, h, w"),
        strict=True,
    )

    report = autofix(request)

    assert isinstance(report.attempt, Exported), report
    assert [step.fix.title for step in report.kept] == ["Bound h ≥ 8 and w ≥ 8"]


@pytest.mark.slow
def test_an_option_that_keeps_a_condition_says_what_is_rejected() -> None:
    attempt = capture(
        Request(
            target=ResizesTable(),
            args=(torch.randn(2, 16, 4),),
            shapes=Shapes.parse("x: batch, n, _"),
        )
    )
    assert isinstance(attempt, Failed)
    explained = explain(attempt)
    assert explained.diagnosis is not None

    (fix,) = export_options.suggest_options(
        explained
    )  # where torch has a ShapesSpec, better ones are known

    assert "the model also runs at 25" in explained.diagnosis.sentence
    assert fix.narrows
    assert fix.gives_up.endswith("The program rejects n = 25, which the model accepts.")


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.parametrize(
    ("target", "second", "title", "written"),
    [
        (lambda x, y: y @ x, (2, 4), "Call y.shape[1] batch, not y.shape[0]", "y: _, batch"),
        (lambda x, y: x.sum(0) + y.sum(0), (6, 3), "Give y.shape[0] its own name", "batch_y"),
        (lambda x, y: x + y[1:], (5, 3), "Require batch_y = batch + 1", "y: batch + 1, _"),
    ],
    ids=["another axis", "unrelated", "one more"],
)
def test_one_name_for_two_sizes_is_taken_apart(
    target: Callable[..., torch.Tensor],
    second: tuple[int, int],
    title: str,
    written: str,
    strict: bool,
) -> None:
    request = Request(
        target=target,
        args=(torch.randn(4, 3), torch.randn(second)),
        shapes=Shapes.parse("x: batch, _; y: batch, _"),
        strict=strict,
    )

    report = autofix(request)

    assert [step.fix.title for step in report.kept] == [title]
    assert isinstance(report.attempt, Exported)
    assert report.attempt.request is not None
    assert written in str(report.attempt.request.shapes)


@pytest.mark.slow
def test_a_model_that_takes_other_sizes_does_not_refuse_all_others() -> None:
    attempt = capture(
        Request(
            target=OnlySomeBatches(), args=(torch.randn(4, 3),), shapes=Shapes.parse("x: batch, _")
        )
    )
    assert isinstance(attempt, Failed)

    diagnosis = explain(attempt).diagnosis

    assert diagnosis is not None
    assert "(the model also runs at 8): for some sizes the model raises" in diagnosis.sentence


@pytest.mark.slow
def test_a_program_that_rejects_its_own_example_is_no_fix_but_a_reason() -> None:
    request = Request(target=Growing(), args=(torch.ones(2, 6),), shapes=Shapes.parse("x: b, n"))
    report = autofix(request)

    assert not report.kept
    assert isinstance(report.attempt, Failed)
    reason = report.attempt.refusals[-1]
    assert "it exports, but the program rejects the example: The size of tensor a (4)" in reason
    assert "The call sets `known` on the model; the program does not." in reason

    request.target(torch.ones(2, 16))  # as the reason says
    report = autofix(request)
    assert [step.fix.title for step in report.kept] == ["Bound n ≤ 16"]
    assert isinstance(report.attempt, Exported)
    assert report.attempt.agreement is not None
    assert report.attempt.agreement.verdict == "agrees"


@pytest.mark.slow
def test_a_dim_made_of_one_that_is_1_says_which_is_1() -> None:
    wanted = Shapes.parse("x: rows, _")
    attempt = capture(
        Request(target=AnotherKeyForOdd(), args=(torch.ones(3, 2),), dynamic_shapes=wanted)
    )
    assert isinstance(attempt, Failed)
    found = explain(attempt)
    assert found.diagnosis is not None
    assert "The program is correct only if rows is odd" in found.diagnosis.sentence
    first, second = (fix.gives_up for fix in found.fixes)
    # A ShapesSpec, where torch has it, is an assumption about the sizes of a call
    assert first.startswith(("The program asserts them at run time", "The program rejects sizes"))
    assert second.startswith("_rows is 1 in the example (x.shape[0] is computed from it)")
