"""The release verdict: what is good, what is open, what is wrong, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

import explorer
from explorer.cli import main as command_line
from explorer.text.exit_codes import UNCHECKED
from explorer.text.release_verdict import release_of
from export_engine.record import Check, FindingRow, GuaranteeRow, Record, Verification


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
    assert release.sentence == "Nothing wrong so far; still to check: verification, sizes, runs."
    assert states(record)["export"] == "good"


@pytest.mark.after_check
def test_numbers_from_data_are_counted_and_not_named() -> None:
    def counts(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.nonzero().sum() + y.nonzero().sum()

    ex = explorer.explore(counts, (torch.ones(3), torch.ones(4)))
    said = {each.name: each.sentence for each in ex.release_report().items}
    assert said["sizes"].startswith("2 data-dependent numbers: ")
    ex = explorer.explore(counts, (torch.ones(3), torch.ones(4)), dynamic_shapes="x: batch")
    said = {each.name: each.sentence for each in ex.release_report().items}
    assert said["sizes"].startswith("batch [0, ∞) and 2 data-dependent numbers: ")


class CausalWhereSquare(torch.nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        scores = q @ k.T
        if q.shape[0] == k.shape[0]:
            scores = scores.tril()
        return scores


@pytest.mark.slow
def test_sizes_that_one_way_of_a_branch_leaves_out_are_told() -> None:
    inputs = (torch.ones(3, 2), torch.ones(5, 2))
    shown = explorer.explore(CausalWhereSquare(), inputs, dynamic_shapes="q: s, _; k: t, _")
    shown.verify()
    assert shown.record.verification is not None

    assert "Only if\n  s != t (test_release.py:" in repr(shown)
    row = next(row for row in shown.record.verification.rows if row.name == "refuses")
    assert "Eager accepts 1 of them: " in row.sentence
    assert "breaks s != t" in row.sentence
    sizes = next(item for item in shown.release_report().items if item.name == "sizes")
    assert sizes.sentence.endswith(" Only if s != t.")


@pytest.mark.slow
def test_what_an_open_item_names_closes_it() -> None:
    ex = explorer.explore(halved, (torch.ones(3),), dynamic_shapes="x: batch")
    for item in ex.release_report().items:
        if item.state == "open":
            eval(item.command, {"ex": ex})
    assert ex.release_report().ok, str(ex.release_report())
    assert not any(each.command for each in ex.release_report().items)


@pytest.mark.slow
def test_what_an_open_item_of_a_set_names_closes_it() -> None:
    kit = explorer.explore_many(
        {"one": (halved, (torch.ones(3),)), "ex": (halved, (torch.ones(2),))}
    )
    assert "  → kit['ex'].verify(); kit['ex'].run()" in str(kit.release_report())
    for item in kit.release_report().items:
        for command in filter(None, item.command.split("; ")):
            eval(command, {"kit": kit})
    assert kit.release_report().ok, str(kit.release_report())


def test_a_command_says_the_name_that_the_user_gave() -> None:
    kit = explorer.explore_many({"one": (halved, (torch.ones(3),))})
    (item, *_) = kit.release_report().called("mine").items
    assert item.command == "mine['one'].verify(); mine['one'].run()"


def test_what_verify_compared_with_eager_since_is_good(record: Record) -> None:
    unchecked = replace(
        record, check=Check("not checked", "Not compared with eager: it took long.")
    )
    (item, *_) = release_of(unchecked).items
    assert (item.state, item.command) == ("open", "ex.verify()")
    for verdict, state in {"holds": "good", "not checked": "open"}.items():
        row = GuaranteeRow("sound", "It is.", verdict, "It was.")  # type: ignore[arg-type]
        verified = Verification(verdict, "It is.", [row], 1.0)  # type: ignore[arg-type]
        assert states(replace(unchecked, verification=verified))["export"] == state


@pytest.mark.after_check
def test_all_of_it_done_is_ready(
    explored: explorer.Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    explored.verify(1)
    explored.run(backend="program")
    release = explored.release_report()
    assert release.ok, str(release)
    assert str(release).startswith("Ready to ship")
    assert [each.name for each in release.items] == [
        *("export", "findings", "verification", "sizes", "runs"),
    ]
    assert explored.session.entry.head().release == release


def test_what_fixes_give_up_is_for_a_person_to_decide(record: Record) -> None:
    lost = "The program rejects seq = 32, which the model accepts"
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


@pytest.mark.slow
def test_a_failure_is_not_ready() -> None:
    release = explorer.explore(undecided, (torch.ones(3),)).release_report()
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
    plain = str(tmp_path / "plain.pt2")
    torch.export.save(explored.program, plain)
    asked = [plain, "--trusted", "--ready", "--backend", "tensorrt"]
    assert command_line.main(asked) == UNCHECKED
    assert f"→ explorer.load({plain!r}, trusted=True).run()" in capsys.readouterr().out
