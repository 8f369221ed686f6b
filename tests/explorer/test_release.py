"""The release verdict: what is good, what is open, what is wrong, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

import explorer
from explorer import command_line
from explorer.rendering.release_verdict import release_of
from export_engine.record import Check, FindingRow, Record


def halved(x: torch.Tensor) -> torch.Tensor:
    return x / 2


def undecided(x: torch.Tensor) -> torch.Tensor:
    return x.sin() if x.sum() > 0 else x


@pytest.fixture(scope="module")
def explored() -> explorer.Exploration:
    return explorer.explore(halved, (torch.ones(3),), dynamic_shapes="x: batch")


@pytest.fixture(scope="module")
def record(explored: explorer.Exploration) -> Record:
    """Of the export alone."""
    return explored.session.entries[0]._described


def states(record: Record) -> dict[str, str]:
    return {each.name: each.state for each in release_of(record).items}


def test_what_was_not_done_is_open(record: Record) -> None:
    release = release_of(record)
    assert (release.verdict, release.ok) == ("open", False)
    assert release.sentence == "Nothing wrong so far; still open: verification, sizes, runs."
    assert states(record)["export"] == "good"


def test_numbers_from_data_are_counted_and_not_named() -> None:
    def counts(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.nonzero().sum() + y.nonzero().sum()

    ex = explorer.explore(counts, (torch.ones(3), torch.ones(4)))
    said = {each.name: each.sentence for each in ex.ready().items}
    assert said["sizes"].startswith("2 numbers computed from data: ")
    ex = explorer.explore(counts, (torch.ones(3), torch.ones(4)), dynamic_shapes="x: batch")
    said = {each.name: each.sentence for each in ex.ready().items}
    assert said["sizes"].startswith("batch [0, ∞) and 2 numbers computed from data: ")


def test_all_of_it_done_is_ready(
    explored: explorer.Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    explored.verify(1)
    explored.run(backend="program")
    release = explored.ready()
    assert release.ok, str(release)
    assert str(release).startswith("Ready to ship")
    assert [each.name for each in release.items] == [
        *("export", "findings", "verification", "sizes", "runs"),
    ]
    assert explored.session.entry.head().release == release


def test_what_fixes_give_up_is_for_a_person_to_decide(record: Record) -> None:
    lost = "The program rejects seq = 32, which the model takes"
    item = release_of(replace(record, given_up=[lost])).items[0]
    assert (item.name, item.state) == ("export", "open")
    assert lost in item.sentence


def test_one_that_is_wrong_decides(record: Record) -> None:
    wrong = FindingRow("baked-value", "A value baked in", "wrong", "It is.", "")
    assert states(replace(record, findings=[wrong]))["findings"] == "bad"
    assert release_of(replace(record, findings=[wrong])).verdict == "not ready"
    assert states(replace(record, findings=[replace(wrong, severity="surprising")])) == {
        **states(record),
        "findings": "open",
    }
    for verdict, state in {"differs": "bad", "not checked": "open", "agrees": "good"}.items():
        check = Check(verdict, "It is so.")  # type: ignore[arg-type]
        assert states(replace(record, check=check))["export"] == state


def test_a_failure_is_not_ready() -> None:
    release = explorer.explore(undecided, (torch.ones(3),)).ready()
    assert release.verdict == "not ready"
    assert [each.state for each in release.items] == ["bad"]


@pytest.mark.slow
def test_the_command_line_checks_runs_and_says_it(
    explored: explorer.Exploration,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = explored.save(tmp_path / "halved.pt2")
    assert command_line.main([str(file), "--ready"]) == command_line.OK
    assert "Ready to ship" in capsys.readouterr().out
