"""Holds, broken, not checked: what was not checked is never taken for what holds."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import torch
from torch import nn

from explorer.cli import main as command_line
from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.defects import LOGGER, is_ours, report_of
from export_engine.describe import describe
from export_engine.rules import GuaranteeFlat, GuaranteeSound
from export_engine.shapes import Shapes
from export_engine.trace import Recording
from export_engine.verify import (
    Subject,
    Verified,
    contract_soundness,
    examine,
    graph_form,
    guarantees,
    round_trips,
    verify,
    with_verification,
)
from export_engine.verify.guarantee import Guarantee
from export_engine.verify.guarantees import CHECKS, Check
from tests import planted


def exported(target: Any, *args: Any, strict: bool = False) -> Exported:
    attempt = capture(Request(target=target, args=args, strict=strict))
    assert isinstance(attempt, Exported), attempt
    return attempt


def subject(attempt: Exported) -> Subject:
    return Subject(attempt, describe(attempt), 1)


def guarantee(verdict: Any, lacking: str = "") -> Guarantee:
    return Guarantee(rule=GuaranteeFlat, verdict=verdict, sentence="", lacking=lacking)


@pytest.mark.parametrize(
    ("rows", "verdict", "ok"),
    [
        ([guarantee("holds"), guarantee("not applicable")], "holds", True),
        ([guarantee("holds"), guarantee("not checked")], "not checked", False),
        ([guarantee("holds"), guarantee("not checked", "a model")], "not checked", True),
        ([guarantee("not checked", "a model"), guarantee("broken")], "broken", False),
    ],
)
def test_ok_means_that_all_that_could_be_checked_was(
    rows: list[Guarantee], verdict: str, ok: bool
) -> None:
    found = Verified(tuple(rows))
    assert (found.verdict, found.ok) == (verdict, ok)


def raising(_: Subject) -> Guarantee:
    secret = torch.arange(3.0) + 1234.5
    raise AttributeError(f"no such thing in {secret!r} of {Path.home()}")


def as_ours(function: FunctionType) -> Any:
    """A function of these tests as one of the engine's own modules: what it raises is our error."""
    return FunctionType(
        function.__code__, {**globals(), "__name__": "export_engine.verify.planted"}
    )


def test_a_check_that_raises_is_a_defect_with_a_report(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[logging.LogRecord] = []
    monkeypatch.setattr(LOGGER, "handle", heard.append)
    caplog.set_level(logging.DEBUG, LOGGER.name)  # which forgets the levels that were looked up
    monkeypatch.setattr(guarantees, "CHECKS", (CHECKS[0], Check(GuaranteeSound, as_ours(raising))))
    attempt = exported(planted.Relu(), torch.ones(3))
    found = verify(attempt, describe(attempt))
    assert (found.verdict, found.ok) == ("not checked", False)
    (failed,) = found.unchecked
    assert "This is a bug in Export Explorer" in failed.sentence
    assert f"torch {torch.__version__}" in failed.report
    assert "in raising" in failed.report
    assert "1234" not in failed.report
    assert str(Path.home()) not in failed.report
    assert [each.getMessage() for each in heard] == ["ignored while checking the guarantee `sound`"]
    row = with_verification(describe(attempt), found).verification
    assert row is not None
    assert (row.verdict, row.rows[1].report) == ("not checked", failed.report)


def test_whose_fault_an_exception_is() -> None:
    def theirs() -> None:
        raise TypeError("of the user's own")

    for called, ours in ((theirs, False), (lambda: report_of(None, ""), True)):  # type: ignore[arg-type]
        with pytest.raises((TypeError, AttributeError)) as raised:
            called()
        assert is_ours(raised.value) == ours


def test_a_file_without_an_example_is_checked_all_the_same() -> None:
    made = exported(planted.Adds(), torch.ones(3, 4), torch.ones(3, 4))
    file = io.BytesIO()
    torch.export.save(made.program, file)
    file.seek(0)
    program = torch.export.load(file)
    program._example_inputs = None
    loaded = Exported(request=None, recording=Recording(), program=program)
    with examine(loaded, describe(loaded), 1) as looked_at:
        assert [each.shape for each in looked_at.request.args] == [(3, 4), (3, 4)]
        assert round_trips.check_unflattened(looked_at).verdict == "holds"
        assert contract_soundness.check_refuses(looked_at).verdict == "holds"
        assert contract_soundness.check_contract(looked_at).lacking == "the eager model"


def test_a_rule_that_nothing_was_found_to_break_is_not_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contract_soundness, "breaking", lambda *_: None)
    attempt = exported(planted.Relu(), torch.ones(3, 4))
    with examine(attempt, describe(attempt), 1) as looked_at:
        assert contract_soundness.check_refuses(looked_at).verdict == "not checked"


class WithoutGradient(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = x + 1
        return y * 2


@pytest.mark.parametrize(
    ("target", "strict"),
    [
        (nn.Linear(4, 4), True),
        (nn.Sequential(nn.Linear(4, 4), nn.ReLU()), True),
        (WithoutGradient(), False),
        (torch.relu, False),
    ],
)
@pytest.mark.slow
def test_ops_without_a_line_of_the_users_are_no_fault(target: Any, strict: bool) -> None:
    found = graph_form.check_mapped(subject(exported(target, torch.ones(3, 4), strict=strict)))
    assert found.verdict == "holds", found


class Picks(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.nonzero()


@pytest.mark.after_check
def test_a_symbol_that_no_value_has_is_no_range_that_was_lost() -> None:
    attempt = exported(Picks(), torch.ones(5), strict=True)
    assert len(attempt.program.range_constraints) == 2, "else the plant is none"
    with examine(attempt, describe(attempt), 1) as looked_at:
        assert round_trips.check_saved(looked_at).verdict == "holds"


@contextmanager
def patched() -> Iterator[None]:
    """As a library's exporter patches its modules: sines become cosines."""
    original, Sine.function = Sine.function, staticmethod(torch.cos)
    try:
        yield
    finally:
        Sine.function = original


class Sine(nn.Module):
    function = staticmethod(torch.sin)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_eager_runs_in_the_contexts_of_the_export(known: bool) -> None:
    """What a library replaces to export its modules is no fault of the program."""
    attempt = capture(Request(target=Sine(), args=(torch.ones(3),), within=(patched,)))
    assert isinstance(attempt, Exported), attempt
    if not known:
        assert attempt.request is not None
        attempt = replace(attempt, request=attempt.request.with_changes(within=()))
    found = {each.name: each for each in verify(attempt, describe(attempt), 1).guarantees}
    assert found["sound"].verdict == ("holds" if known else "broken")
    assert ("eager ran in the contexts of the export: patched" in found["sound"].evidence) is known
    assert Sine.function is torch.sin


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Added(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


class Offset(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 2


@pytest.mark.parametrize(
    ("again", "shapes", "verdict", "said"),
    [
        (
            Added(),
            "x: batch, _",
            "holds",
            "Agrees at batch 0, 1, 3, 4; the re-exported graph is not the same: output: inputs add",
        ),
        (Offset(), "x: batch, _", "broken", "batch = 3: output 0: off by"),
        (Doubled(), None, "broken", "x: dim 0 is fixed at 3"),
    ],
)
@pytest.mark.slow
def test_another_graph_of_the_same_inputs_is_run(
    again: nn.Module, shapes: str | None, verdict: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = Shapes.parse("x: batch, _")
    attempt = capture(Request(target=Doubled(), args=(torch.randn(3, 4),), dynamic_shapes=spec))
    assert isinstance(attempt, Exported), attempt
    other = Request(
        target=again, args=(torch.randn(3, 4),), shapes=Shapes.parse(shapes) if shapes else None
    )
    monkeypatch.setattr(round_trips, "capture", lambda _: capture(other))
    with examine(attempt, describe(attempt), 1) as looked_at:
        found = round_trips.check_re_exported(looked_at)
    assert found.verdict == verdict
    assert found.sentence.startswith(said), found.sentence


@pytest.mark.after_check
@pytest.mark.parametrize(
    ("verdict", "lacking", "code"),
    [
        ("holds", "", command_line.OK),
        ("not checked", "", command_line.UNCHECKED),
        ("not checked", "the eager model", command_line.OK),
        ("broken", "", command_line.BAD),
    ],
)
def test_the_exit_code_says_which(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdict: str, lacking: str, code: int
) -> None:
    path = tmp_path / "small.pt2"
    torch.export.save(exported(planted.Relu(), torch.ones(3)).program, path)
    found = Verified((guarantee(verdict, lacking),))
    monkeypatch.setattr("export_engine.verify.verify", lambda *_: found)
    assert command_line.main([str(path), "--trusted", "--verify"]) == code
