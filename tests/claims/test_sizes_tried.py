"""Sizes: what is said to agree was run, at 0 and 1 too, and where it does not the line is named."""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from export_engine.attempt import Agreement, Finding, Kind, Trial
from export_engine.process import can_fork
from export_engine.record import sizes_tried
from export_engine.verify.numbers_in_code import Number
from export_engine.verify.untraced_sizes import Sizes, choose_sizes

from ..planted_sizes import PLANTS, Plant

Tensor = torch.Tensor
_SAMPLE = ("== 1", "== 0", "a setting", "a helper", "decoding", "either is 0")


class One(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] == 1:  # the line that asks
            return x * 100
        return x * 2


def opened(target: Any, shapes: str, *args: Tensor) -> explorer.Exploration:
    ex = explorer.explore(target, args or (torch.randn(3, 4),), dynamic_shapes=shapes)
    assert ex.ok, ex
    return ex


def wrong_line(ex: explorer.Exploration) -> str:
    """The text of the line that the finding names; empty without one."""
    found = [each for each in ex.findings if each.kind.code == "EX224"]
    if not found or not found[0].stack:
        return ""
    place = found[0].stack[-1]
    return linecache.getline(place.file, place.line).strip()


@pytest.mark.slow
@pytest.mark.parametrize("shapes", ["x: batch, _", "x: batch[1..64], _"])
def test_a_branch_on_size_1_is_found_with_its_line_and_fixes(shapes: str) -> None:
    ex = opened(One(), shapes)
    verified = ex.verify()

    assert not verified.ok
    broken = verified.broken[0]
    assert broken.name == "sound"
    assert "Differs from eager at batch = 1" in broken.sentence
    assert "the line that asks" in broken.sentence
    assert "the line that asks" in wrong_line(ex)
    assert {"code", "options", "shapes"} <= {each.kind for each in ex.fixes}
    kept_out = next(each for each in ex.fixes if each.kind == "shapes")
    assert "batch[2.." in kept_out.after
    assert kept_out.narrows
    ready = ex.release_report()
    assert ready.verdict == "not ready"
    assert {each.name for each in ready.items if each.state == "bad"} >= {
        "findings",
        "verification",
        "sizes",
    }


@pytest.mark.slow
def test_both_branches_are_kept_by_the_first_fix_and_verified_at_1() -> None:
    ex = opened(One(), "x: batch, _")
    ex.verify()
    first = ex.fixes[0]
    assert not first.lossy
    assert not first.narrows
    ex.apply_fixes(first)

    assert ex.verify().ok
    assert not ex.findings
    trials = ex.record.verification.trials if ex.record.verification else []
    agreed = {each.sizes for each in trials if each.outcome == "agrees"}
    assert {"batch = 0", "batch = 1", "batch = 2"} <= agreed
    program = ex.program.module()
    for size in (0, 1, 2, 5):
        assert torch.equal(program(torch.ones(size, 4)), One()(torch.ones(size, 4)))


def test_what_was_tried_is_listed_where_it_is_said() -> None:
    ex = opened(nn.ReLU(), "input: batch, _")
    sound = next(each for each in ex.verify().guarantees if each.name == "sound")

    assert sound.sentence.startswith("Agrees with eager at batch 0, 1, 2, 3, ")
    sizes = next(each for each in ex.release_report().items if each.name == "sizes")
    assert "batch 0, 1, 2, 3, " in sizes.sentence


def test_a_size_that_only_the_program_takes_is_a_note() -> None:
    def halves(x: Tensor) -> Tensor:
        assert x.shape[0] != 1
        return x * 2

    ex = opened(halves, "x: n, _")
    verified = ex.verify()

    assert verified.ok
    sound = next(each for each in verified.guarantees if each.name == "sound")
    assert "n 0, 2, 3, " in sound.sentence
    assert any("n = 1: eager fails" in e and "the program returns" in e for e in sound.evidence)


def test_combinations_are_never_said_to_be_more_than_were_run() -> None:
    assert sizes_tried([{"n": 3}, {"n": 0}, {"n": 1}]) == "n 0, 1, 3"
    assert sizes_tried([{}]) == "the example's sizes"
    two = [{"a": 0, "b": 5}, {"a": 1, "b": 7}, {"a": 2, "b": 5}, {"a": 2, "b": 7}]
    assert sizes_tried(two) == "4 combinations of a 0, 1, 2 and b 5, 7"
    assert sizes_tried(two[:2]) == "a = 0, b = 5; a = 1, b = 7"


def test_the_list_has_0_1_the_ends_the_compared_and_their_neighbours() -> None:
    import sympy

    n, m = sympy.symbols("n m", integer=True)
    sizes = Sizes({"x": [n, m]}, [n, m], {n: 6, m: 5}, {n: (0, 64), m: (0, None)}, {})
    numbers = (Number(9, False, 0), Number(4, True, 1))
    values = [each.values for each in choose_sizes(sizes, numbers)]

    assert len({tuple(each.items()) for each in values}) == len(values)
    assert {n: 6, m: 5} not in values
    tried = {each[n] for each in values if each[m] == 5}
    assert {0, 1, 8, 9, 10, 3, 4, 5, 64} <= tried
    assert {n: 1, m: 1} in values
    assert {n: 0, m: 0} in values
    assert any(each[n] < each[m] for each in values)
    assert any(each[n] > each[m] for each in values)
    assert any(each[n] == each[m] > 1 for each in values)
    pressing = [each.values for each in choose_sizes(sizes, numbers) if each.pressing]
    assert all({n: size, m: 5} in pressing for size in (0, 1, 9)), "tried however long they take"


@pytest.mark.parametrize(
    ("outcome", "sizes", "verdict"),
    [("refused", 1, "agrees"), ("refused", 4, "refused"), ("differs", 1, "differs")],
)
def test_a_fix_may_lead_to_a_program_that_rejects_0_and_1_but_not_to_a_wrong_one(
    outcome: Any, sizes: int, verdict: str
) -> None:
    trials = (Trial({"n": 3}, "agrees"), Trial({"n": sizes}, outcome))
    assert Agreement(trials).verdict == verdict


def judged(plant: Plant, target: Callable[..., Any]) -> tuple[bool, str]:
    """Whether Verify finds nothing, and the line that it names."""
    ex = opened(target, plant.shapes, *plant.inputs)
    return ex.verify().ok, wrong_line(ex)


@pytest.mark.slow
@pytest.mark.parametrize("name", _SAMPLE)
def test_a_planted_size_is_found_with_its_line_and_its_twin_is_not(name: str) -> None:
    plant = next(each for each in PLANTS if each.name == name)
    found, line = judged(plant, plant.faulty)
    assert not found
    assert line.endswith("# <-")
    assert judged(plant, plant.clean) == (True, "")


@pytest.mark.thorough
def test_of_all_planted_sizes_at_least_95_percent_are_named_and_no_twin_is() -> None:
    assert len(PLANTS) >= 60
    named = [judged(each, each.faulty)[1].endswith("# <-") for each in PLANTS]
    assert sum(named) >= 0.95 * len(PLANTS)
    assert [each.name for each in PLANTS if judged(each, each.clean) != (True, "")] == []


def branch_findings(plant: Plant, target: Callable[..., Any]) -> list[Finding]:
    """What the export alone tells of branches on sizes, before anything is run."""
    ex = opened(target, plant.shapes, *plant.inputs)
    return [each for each in ex.findings if each.kind is Kind.UNTRACED_BRANCH]


def is_named(findings: list[Finding]) -> bool:
    lines = [linecache.getline(each.stack[-1].file, each.stack[-1].line) for each in findings]
    return any(line.strip().endswith("# <-") for line in lines)


@pytest.mark.slow
def test_of_all_planted_sizes_at_least_95_percent_are_named_before_verify() -> None:
    named = [is_named(branch_findings(each, each.faulty)) for each in PLANTS]
    assert sum(named) >= 0.95 * len(PLANTS)


@pytest.mark.slow
def test_no_planted_twin_is_more_than_a_note_before_verify() -> None:
    findings = [finding for each in PLANTS for finding in branch_findings(each, each.clean)]
    assert {each.severity for each in findings} <= {"note"}
    assert len(findings) <= len(PLANTS) / 5


def test_a_branch_is_surprising_only_if_its_ways_differ_by_numbers() -> None:
    plants = {each.name: each for each in PLANTS}
    (finding,) = branch_findings(plants["== 1"], plants["== 1"].faulty)
    assert finding.severity == "surprising"
    assert finding.sentence == (
        "`x.shape[0] == 1` was decided for sizes of 2 or more, and the program also accepts n = 1."
    )
    (finding,) = branch_findings(plants["a norm"], plants["a norm"].faulty)
    assert finding.severity == "note"
    assert not branch_findings(plants["== 1"], plants["== 1"].clean)


def test_a_size_that_the_contract_or_an_assert_keeps_out_is_no_finding() -> None:
    def checks(x: Tensor) -> Tensor:
        torch._check(x.shape[0] > 1)
        return x * 100 if x.shape[0] == 1 else x * 2

    def asserts(x: Tensor) -> Tensor:
        assert x.shape[0] != 1
        return x * 100 if x.shape[0] == 1 else x * 2

    def refuses(x: Tensor) -> Tensor:
        if x.shape[0] < 2:
            raise ValueError("too short")
        return x * 100 if x.shape[0] == 1 else x * 2

    for target, shapes in (
        (One(), "x: batch[2..], _"),
        (checks, "x: n, _"),
        (asserts, "x: n, _"),
        (refuses, "x: n, _"),
    ):
        ex = opened(target, shapes)
        assert not [each for each in ex.findings if each.kind is Kind.UNTRACED_BRANCH], target


@pytest.mark.slow
def test_verify_decides_what_a_branch_on_a_size_is() -> None:
    plant = next(each for each in PLANTS if each.name == "a setting")
    ex = opened(plant.clean, plant.shapes)
    assert ex.verify().ok
    assert {each.severity for each in ex.findings} == {"note"}
    assert "Verify compared the program with eager" in ex.findings[0].why
    assert ex.record.findings[0].why == ex.findings[0].why


@torch.library.custom_op("claims::read_first", mutates_args=())
def read_first(x: Tensor) -> Tensor:
    """Ends Python where there is no first row, as native code that reads out of bounds does."""
    if not len(x):
        os.abort()
    return x + x[:1]


@read_first.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


class ReadsFirst(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return read_first(x)  # type: ignore[no-any-return]


@pytest.mark.slow
@pytest.mark.skipif(not can_fork([]), reason="no fork here: Linux with two cores")
def test_a_size_at_which_a_custom_op_ends_python_is_tried_in_a_fork() -> None:
    ex = opened(ReadsFirst(), "x: batch, _")
    sound = next(each for each in ex.verify().guarantees if each.name == "sound")
    assert sound.verdict == "holds"
    assert any("batch 0" in each or "batch = 0" in each for each in sound.evidence), sound.evidence
    assert any("native code in the call crashes" in each for each in sound.evidence)
