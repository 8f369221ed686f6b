"""The chain of attempts: fixes applied, undone, interrupted; what the user has never gets worse."""

from __future__ import annotations

import dataclasses
import gzip
from functools import cache
from typing import Any

import pytest
import torch

import explorer
from explorer.display.handlers import MessageHandlers
from explorer.display.widget import widget_of
from explorer.session.entry import Entry
from explorer.session.session import Session
from export_engine.attempt import Attempt, Exported, Failed
from widgets import Refusal


class Limit(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[0] <= 16:
            return x @ y[:, :16]
        return y


@cache
def failure() -> Attempt:
    """With its fixes, each of which is exported to try it: an attempt is never changed."""
    args = (torch.randn(8, 32), torch.randn(32, 64))
    shapes = "x: a, b; y: c, d"
    ex = explorer.explore(Limit(), args, dynamic_shapes=shapes, title="limit(x, y)")
    assert ex.fixes
    return ex.session.entry.attempt


def failing() -> explorer.Exploration:
    return explorer.Exploration(Session([Entry.of(failure(), "non-strict")]))


def outside() -> explorer.Exploration:
    """An example outside its range: two fixes, neither tried yet."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU())
    return explorer.explore(model, (torch.randn(10, 4),), dynamic_shapes="input: b[11..18], _")


@pytest.mark.slow
def test_a_failure_has_a_diagnosis_and_fixes() -> None:
    ex = failing()
    assert ex.diagnosis is not None
    assert "d is at least 17" in ex.diagnosis.sentence
    assert ex.fixes[0].kind == "shapes"
    assert ex.record.failure is not None
    assert ex.record.failure.fixes[0].after == "x: a[..16], b; y: b, d[17..]"


@pytest.mark.slow
def test_applying_a_fix_gives_a_program_that_was_checked() -> None:
    ex = failing()
    title = ex.fixes[0].title
    assert ex.apply_fixes(0) is ex
    assert ex.ok
    assert ex.record.fixed_by == [title]
    assert ex.record.check is not None
    assert ex.record.check.verdict == "agrees"
    assert [type(attempt) for attempt in ex.session.attempts] == [Failed, Exported]
    assert ex.diagnosis is None
    assert ex.fixes == ()


@pytest.mark.slow
def test_what_a_fix_gives_up_goes_with_the_program() -> None:
    ex = failing()
    request = ex.session.attempts[0].request
    assert request is not None
    note = dataclasses.replace(ex.fixes[0], narrows=False, gives_up="It rejects a = 17.")
    assert note.apply(request).given_up == ()
    assert dataclasses.replace(note, narrows=True).apply(request).given_up == (note.gives_up,)


@pytest.mark.after_check
def test_a_fix_is_given_by_itself_too_and_undone() -> None:
    ex = failing()
    ex.apply_fixes(ex.fixes[0]).undo()
    assert not ex.ok
    assert len(ex.session.attempts) == 2
    with pytest.raises(explorer.errors.FixError, match="first attempt"):
        ex.undo()


@pytest.mark.after_check
def test_a_branch_off_keeps_the_other_branch() -> None:
    ex = outside()
    ex.apply_fixes(0).undo().apply_fixes(1)
    heads = [entry.head() for entry in ex.session.entries]
    assert [head.parent for head in heads] == [-1, 0, 0]
    assert all(head.outcome == "exported" for head in heads[1:])
    assert "b in [10, 18]" in heads[1].verdict
    assert "b in [11, 18]" in heads[2].verdict


@pytest.mark.after_check
def test_fixes_that_are_none_are_refused() -> None:
    ex = failing()
    for fixes in ((), (7,), (-1,)):
        with pytest.raises(explorer.errors.FixError, match="This attempt offers"):
            ex.apply_fixes(*fixes)
    assert len(ex.session.attempts) == 1


def test_fixes_of_another_attempt_are_refused() -> None:
    with pytest.raises(explorer.errors.FixError, match=r"not one of this attempt"):
        failing().apply_fixes(outside().fixes[0])


def test_autofix_reports_its_steps() -> None:
    ex = failing()
    report = ex.autofix()
    assert ex.ok
    assert [step.kept for step in report.steps] == [True]
    said = "It exports with one fix, for fewer sizes than the model accepts: Require "
    assert report.sentence.startswith(said)
    assert "Agrees with eager" in report.sentence


@pytest.mark.slow
def test_explore_fixes_by_itself() -> None:
    ex = explorer.explore(
        Limit(),
        (torch.randn(8, 32), torch.randn(32, 64)),
        dynamic_shapes="x: a, b; y: c, d",
        fix=True,
    )
    assert ex.ok
    assert len(ex.session.attempts) == 2


class Interrupts:
    """A progress callback that interrupts at its n-th call."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, *progress: Any) -> None:
        self.left -= 1
        if self.left <= 0:
            raise KeyboardInterrupt


@pytest.mark.after_check
@pytest.mark.parametrize("good_first", [False, True])
def test_an_interrupted_fix_changes_nothing(good_first: bool) -> None:
    ex = outside()
    if good_first:
        ex.apply_fixes(0)
    before = ex.session.current
    count = len(ex.session.attempts)
    with pytest.raises(KeyboardInterrupt):
        ex.session.apply(0, [1], Interrupts(at=1))
    assert (ex.session.current, len(ex.session.attempts)) == (before, count)
    assert ex.ok == good_first


@pytest.mark.after_check
def test_a_fix_that_fails_leaves_the_good_program_current() -> None:
    ex = outside()
    ex.apply_fixes(0)
    program = ex.program
    first = ex.session.entries[0].attempt
    assert isinstance(first, Failed)

    def spoil(request: Any) -> Any:
        return request.with_changes(args=(torch.randn(3, 7),))

    object.__setattr__(first.fixes[1], "change", spoil)
    number = ex.session.apply(0, [1])
    assert ex.program is program
    assert not ex.session.entries[number].ok


def test_the_page_applies_goes_back_and_is_refused_with_a_sentence() -> None:
    ex = failing()
    answers = MessageHandlers(ex.session)
    told: list[tuple[int, int, str]] = []
    answers.progress = lambda *each: told.append(each)
    assert answers("apply", {"attempt": 0, "fixes": [0]}) == ({"attempt": 1}, [])
    assert ex.ok
    assert answers("use", {"attempt": 0}) == (None, [])
    assert not ex.ok
    value, _ = answers("autofix", {"attempt": 0})
    assert value["attempt"] == 2
    assert "one fix" in value["report"]
    for request in ({"attempt": 0}, {"attempt": 0, "fixes": ["0"]}, {"attempt": 0, "fixes": [9]}):
        with pytest.raises(Refusal):
            answers("apply", request)
    with pytest.raises(Refusal, match="no attempt"):
        answers("use", {"attempt": 9})


def test_an_interrupt_is_told_to_the_page() -> None:
    ex = outside()
    answers = MessageHandlers(ex.session)
    answers.progress = Interrupts(at=1)
    with pytest.raises(Refusal, match=r"Interrupted\. Nothing has changed\."):
        answers("apply", {"attempt": 0, "fixes": [0]})
    assert len(ex.session.attempts) == 1


def test_open_views_follow() -> None:
    ex = failing()
    widget = widget_of(ex.session, {})
    assert widget.current == 0
    ex.apply_fixes(0)
    assert widget.current == 1
    assert [head["step"] for head in widget.attempts] == ["", ex.record.fixed_by[0]]
    assert gzip.decompress(widget.record) == ex.session.entry.encoded


@pytest.mark.slow
def test_what_is_found_out_later_describes_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    import export_engine.describe as room

    described: list[Any] = []
    real = room.describe
    monkeypatch.setattr(
        room,
        "describe",
        lambda attempt, *more: described.append(attempt.program) or real(attempt, *more),
    )
    ex = explorer.explore(torch.nn.ReLU(), (torch.ones(3),))
    program = ex.program
    ex.verify(sizes=1)
    ex.run()
    ex.cost().measure()
    assert sum(each is program for each in described) == 1  # Verify describes other forms of it
    assert ex.record.verification is not None
    assert ex.record.profile is not None
    assert len(ex.record.runs) == 2
    found = explorer.diff(ex, ex)
    assert found.session().entry.record.verification is not None
    assert sum(each is program for each in described) == 1


@pytest.mark.after_check
def test_what_is_found_out_reaches_every_view_of_any_attempt() -> None:
    ex = outside()
    ex.apply_fixes(0)
    views = [widget_of(ex.session, {}), widget_of(ex.session, {})]
    ex.session.keep(0, runs=())
    ex.session.keep(1, runs=())
    ex.session.keep(1, runs=())
    for view in views:
        assert [head["revision"] for head in view.attempts] == [1, 2]
