"""Findings: each planted fault is found, by the right kind, and none in its clean twin."""

import time

import pytest
import torch

from export_engine.attempt import Exported, Failed, Kind, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.findings import find_findings
from export_engine.rules import kinds_of
from export_engine.shapes import Shapes
from tests import models, planted
from tests.planted import Plant


def exported(plant: Plant, faulty: bool) -> Exported:
    target, args = plant.faulty, plant.args
    if not faulty:
        target, args = plant.clean, plant.clean_args or plant.args
    shapes = Shapes.parse(plant.shapes) if plant.shapes else None
    attempt = capture(Request(target=target, args=args, dynamic_shapes=shapes, strict=plant.strict))
    assert not isinstance(attempt, Failed), attempt.error
    assert isinstance(attempt, Exported)
    return attempt


@pytest.mark.parametrize("number", range(len(planted.plants())))
@pytest.mark.slow
def test_a_planted_fault_is_found_and_its_twin_is_clean(number: int) -> None:
    plant = planted.plants()[number]
    attempt = exported(plant, faulty=True)
    found = find_findings(attempt, describe(attempt))
    mine = [finding for finding in found if finding.kind is plant.kind]
    assert len(mine) == 1, found
    assert mine[0].sentence
    assert mine[0].why
    assert mine[0].stack or plant.kind in PLACELESS or plant.args[0].shape[0] == 1
    clean = exported(plant, faulty=False)
    assert find_findings(clean, describe(clean)) == ()


def test_every_kind_is_planted() -> None:
    apart = {
        Kind.TIED_WEIGHTS,  # it depends on the torch
        Kind.CONTEXT,  # of the call, not of the model: tests/claims/test_contexts.py
        Kind.WRONG_SIZE,  # found by a run: tests/claims/test_sizes_tried.py
        Kind.TWIN_DIFFERS,  # of a model without weights: tests/claims/test_without_weights.py
    }
    assert {each.kind for each in planted.plants()} == {*kinds_of("finding")} - apart


PLACELESS = (Kind.UNUSED_INPUT, Kind.SHARED_INPUT, Kind.BAKED_ARGUMENT, Kind.OVERLAPPING_INPUTS)
"""They are about the call, not about a line."""


def test_the_value_that_is_named_is_the_one_that_was_baked_in() -> None:
    before = time.time()
    attempt = capture(Request(target=planted.DropsAndAddsTime(), args=(torch.ones(3, 4),)))
    assert isinstance(attempt, Exported)
    (finding,) = find_findings(attempt, describe(attempt))
    op = list(attempt.program.graph.nodes)[finding.node]
    assert op.target is torch.ops.aten.add.Tensor
    assert before <= op.args[1] <= time.time()
    assert f"{op.args[1]}" in finding.sentence


def test_a_read_is_seen_where_the_text_does_not_tell() -> None:
    attempt = capture(Request(target=planted.ReadsByAnotherName(), args=(torch.ones(3, 4),)))
    assert [each.what for each in attempt.recording.reads] == ["environment"]
    assert [each.name for each in attempt.recording.reads] == ["A_SCALE_OF_OURS"]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_real_models_raise_no_false_alarm(strict: bool) -> None:
    alarms: dict[str, list[str]] = {}
    for name, make in models.SMALL_CASES.items():
        case = make()
        shapes = Shapes.parse(case.shapes) if case.shapes else None
        attempt = capture(
            Request(
                target=case.model,
                args=case.args,
                kwargs=case.kwargs,
                dynamic_shapes=shapes,
                strict=strict,
            )
        )
        alarms[name] = [f"{row.heading}: {row.sentence}" for row in describe(attempt).findings]
    count = sum(map(len, alarms.values()))
    print(f"{count} findings on {len(alarms)} clean models, strict={strict}")
    assert count == 0, alarms


@pytest.mark.slow
def test_what_a_trace_changed_is_as_it_was() -> None:
    planted.SEEN.clear()
    counting = planted.Counts()
    before = planted.CALLS, planted.CountsInClass.calls
    for target in (
        planted.AppendsToGlobal(),
        planted.CountsInGlobal(),
        planted.CountsInClass(),
        counting,
    ):
        for strict in (False, True):
            attempt = capture(Request(target=target, args=(torch.ones(3, 4),), strict=strict))
            assert isinstance(attempt, Exported)
    assert planted.SEEN == []
    assert (planted.CALLS, planted.CountsInClass.calls) == before
    assert counting.calls == 0


@pytest.mark.slow
def test_a_fix_of_a_finding_mends_it() -> None:
    mended = []
    for plant in planted.plants():
        attempt = exported(plant, faulty=True)
        for finding in find_findings(attempt, describe(attempt)):
            if finding.kind is plant.kind and finding.fix is not None:
                assert attempt.request is not None
                again = capture(finding.fix.apply(attempt.request))
                assert isinstance(again, Exported), finding.fix.title
                kinds = [each.kind for each in find_findings(again, describe(again))]
                assert plant.kind not in kinds, finding.fix.title
                mended.append(plant.kind)
    wanted = {
        Kind.SHARED_INPUT,
        Kind.TRAINING_MODE,
        Kind.FIXED_SIZE,
        Kind.BAKED_ARGUMENT,
        Kind.HIDDEN_CONDITION,
    }
    assert set(mended) == wanted


def test_tied_weights_that_are_tied_no_more_are_found() -> None:
    attempt = capture(Request(target=planted.Tied(), args=(torch.ones(3, 4),)))
    assert isinstance(attempt, Exported)
    assert find_findings(attempt, describe(attempt)) == ()
    names = [spec.target for spec in attempt.program.graph_signature.input_specs]
    held = attempt.program.state_dict
    if "head.weight" in names and "embed.weight" in names:
        held["head.weight"] = held["head.weight"].detach().clone()
        kinds = [each.kind for each in find_findings(attempt, describe(attempt))]
        assert kinds == [Kind.TIED_WEIGHTS]
    else:  # this torch has the weight as one input, which cannot come apart
        assert {"head.weight", "embed.weight"} & {*names}


def test_eval_mode_lasts_for_the_export_only() -> None:
    plant = next(each for each in planted.plants() if each.kind is Kind.TRAINING_MODE)
    attempt = exported(plant, faulty=True)
    assert attempt.request is not None
    capture(attempt.request.with_changes(eval_mode=True))
    assert isinstance(plant.faulty, torch.nn.Module)
    assert all(each.training for each in plant.faulty.modules())
