"""What fails inside Export Explorer is said as that, with a report; it is not the user's fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import explorer
from explorer.cli import main as command_line
from explorer.display.handlers import MessageHandlers
from explorer.session.session import FixError, Session
from widgets import Refusal


class Undecided(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x


@pytest.fixture(scope="module")
def explored() -> explorer.Exploration:
    return explorer.explore(torch.nn.Linear(2, 2), (torch.ones(3, 2),))


def stumble(value: Any = None) -> None:
    """As a line of ours does that is wrong."""
    value.no_such_thing  # noqa: B018


stumble.__globals__["__name__"] = "explorer.stumbling"


def test_the_page_is_told_and_can_copy_a_report(
    explored: explorer.Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "verify", lambda *_: stumble())
    with pytest.raises(Refusal) as raised:
        MessageHandlers(explored.session)("verify", {"attempt": 0, "sizes": 1})
    assert "Export Explorer itself failed while answering `verify`" in str(raised.value)
    assert "in stumble" in raised.value.report
    assert torch.__version__ in raised.value.report


def test_the_command_line_tells_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command_line, "_run", lambda _: stumble())
    assert command_line.main([str(tmp_path / "a.pt2")]) == command_line.DEFECT
    said = capsys.readouterr().err
    assert "This is a bug in Export Explorer" in said
    assert "in stumble" in said


def test_what_is_wrong_with_what_was_asked_for_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["builtins:object"]) == command_line.USAGE
    assert "bug" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_fix_that_stumbles_over_us_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = explorer.explore(Undecided(), (torch.ones(2),))
    monkeypatch.setattr("export_engine.fixes.apply_fixes", lambda *_: stumble())
    with pytest.raises(RuntimeError, match="bug in Export Explorer") as raised:
        failed.apply_fixes(0)
    assert not isinstance(raised.value, FixError)
    shown = raised.value._render_traceback_()  # type: ignore[attr-defined]
    assert any("in stumble" in line for line in shown)
