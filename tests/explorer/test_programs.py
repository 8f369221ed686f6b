"""Sets of programs: made of calls, saved into one file, loaded as data, shown as text."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export.pt2_archive import _package as torch_packages

import explorer
from explorer.cli.main import OK, USAGE, main
from tests.planted_sets import pair


@pytest.fixture(scope="module")
def kit() -> explorer.Programs:
    return explorer.explore_many(pair())


@pytest.fixture(scope="module")
def saved(kit: explorer.Programs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kit.save(tmp_path_factory.mktemp("kit") / "many.pt2")


@pytest.mark.slow
def test_a_set_is_a_mapping_of_explorations(kit: explorer.Programs) -> None:
    assert list(kit) == ["prefill", "decode"]
    assert kit["decode"].verify().broken == ()
    assert "prefill → decode  1 cache tensor: f32[batch, prompt, 8]" in repr(kit)
    with pytest.raises(KeyError, match="available: prefill, decode"):
        kit["other"]


@pytest.mark.parametrize(
    "given", [torch.nn.Linear(2, 2), "model.pt2", None, (torch.nn.Linear(2, 2), ())]
)
def test_programs_that_exist_are_a_set_and_what_is_none_is_said(given: Any) -> None:
    program = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    kit = explorer.Programs({"given": program, "graph": program.graph_module})
    assert kit.ok
    assert kit["given"].program is program
    assert explorer.diff(kit["given"], explorer.view(program)).ok
    with pytest.raises(TypeError, match=f"{type(given).__name__} is not a program. Pass an Expl"):
        explorer.Programs({"given": given})
    with pytest.raises(TypeError, match="Expected a dict of programs, got list"):
        explorer.Programs([program])  # type: ignore[arg-type]


class Fails(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x


@pytest.mark.slow
def test_one_that_fails_leaves_the_others_whole() -> None:
    kit = explorer.explore_many({"bad": (Fails(), (torch.ones(2),)), **pair()})

    assert [each.ok for each in kit.values()] == [False, True, True]
    assert len(kit.seams) == 2
    assert "depends on the values" in repr(kit)
    with pytest.raises(explorer.errors.FixError, match="bad failed to export"):
        kit.save("never.pt2")


@pytest.mark.after_check
def test_a_shared_weight_is_in_the_file_once(kit: explorer.Programs, saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        weights = [each for each in archive.namelist() if "/weights/weight_" in each]
    assert len(weights) == len(kit["prefill"].program.state_dict)

    contents = torch_packages.load_pt2(str(saved))
    x = torch.randn(2, 4, 8)
    ours, theirs = kit["prefill"].program.module(), contents.exported_programs["prefill"].module()
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.after_check
def test_a_file_of_several_opens_as_a_set(kit: explorer.Programs, saved: Path) -> None:
    opened = explorer.load(saved)

    assert isinstance(opened, explorer.Programs)
    assert list(opened) == list(kit)
    assert opened.seams == kit.seams
    assert {each.state for each in opened.weights} == {"shared"}
    assert opened.record.shared_bytes == kit.record.shared_bytes
    assert opened["decode"].record.guards == kit["decode"].record.guards
    assert opened["decode"].program.graph_signature.user_inputs == ("x", "cache")


@pytest.mark.after_check
def test_a_stranger_s_set_is_data_until_it_is_trusted(saved: Path, tmp_path: Path) -> None:
    strange = tmp_path / "strange.pt2"
    strange.write_bytes(saved.read_bytes() + b"")
    with zipfile.ZipFile(strange, "a") as archive:
        archive.writestr("archive/extra/note", "from elsewhere")
    kit = explorer.load(strange)

    assert isinstance(kit, explorer.Programs)
    with pytest.raises(explorer.errors.NotTrusted):
        _ = kit["decode"].program
    kit.trust()
    assert kit["prefill"].program is not None


@pytest.mark.slow
def test_opening_a_set_imports_no_torch(saved: Path) -> None:
    code = (
        f"import sys, explorer; print(explorer.load({str(saved)!r})); print('torch' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "False", done.stdout


@pytest.mark.slow
def test_the_command_line_summarizes_a_set(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "kit.html"

    assert main([str(saved), "--html", str(page)]) == OK
    said = capsys.readouterr().out
    assert all(each in said for each in ("prefill → decode", "Weights in common", "kit.html"))
    assert page.stat().st_size > 10_000
    assert main([str(saved), "--decompose", "core"]) == USAGE
    assert "--model" in capsys.readouterr().err
    assert main([str(saved), "--model", "decode"]) == OK


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "at least one program"),
        ({"a/b": (Fails(), (torch.ones(2),))}, "not a valid program name"),
        ({3: (Fails(), (torch.ones(2),))}, "'3' is not a valid program name"),
        ({"a" * 101: (Fails(), (torch.ones(2),))}, "use up to 100 letters"),
        ([(Fails(), (torch.ones(2),))], "got a list. Pass .name"),
        ({"a": Fails()}, "not a call"),
        ({"a": (Fails(), torch.ones(2))}, "Pass them as a tuple"),
    ],
)
def test_bad_input_is_a_sentence(given: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        explorer.explore_many(given)


@pytest.mark.slow
def test_the_view_shows_every_program(kit: explorer.Programs) -> None:
    state = kit.session.state()

    assert [each["label"] for each in state["attempts"]] == ["prefill", "decode"]
    assert state["programs"]["attempts"] == [0, 1]
    number = kit.session.decompose(1, "core")
    assert kit.session.current == number == 2
    assert kit["decode"].record.level is not None
    assert kit.session.programs()["attempts"] == [0, 2]
    kit["decode"].undo()
