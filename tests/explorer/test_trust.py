"""A program is made of a trusted file alone: of one that this user saved here, or says to trust."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.export.pt2_archive._package import package_pt2

import explorer
from explorer.cli.main import BAD, OK, USAGE, main
from explorer.display.handlers import MessageHandlers
from explorer.session.data_folder import FOLDER
from explorer.session.opened_file import OpenedFile
from explorer.testing import assert_same_export
from export_engine.archive import Content
from widgets import Refusal


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lin(x).relu()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file that torch wrote."""
    path = tmp_path_factory.mktemp("plain") / "plain.pt2"
    torch.export.save(torch.export.export(Small(), (torch.ones(2, 4),)), path)
    return path.read_bytes()


@pytest.fixture
def stranger(plain: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that nobody here saved."""
    monkeypatch.setenv(FOLDER, str(tmp_path / "data"))
    (tmp_path / "stranger.pt2").write_bytes(plain)
    return tmp_path / "stranger.pt2"


@pytest.fixture
def own(stranger: Path, tmp_path: Path) -> Path:
    """A file that was saved here."""
    return explorer.load(stranger, trusted=True).save(tmp_path / "own.pt2")


NEED: dict[str, Callable[[explorer.Exploration, Path], object]] = {
    "program": lambda ex, _: ex.program,
    "verify": lambda ex, _: ex.verify(1),
    "run": lambda ex, _: ex.run(),
    "profile": lambda ex, _: ex.cost().measure(),
    "decompose": lambda ex, _: ex.decompose(),
    "save": lambda ex, folder: ex.save(folder / "again.pt2"),
}


@pytest.mark.parametrize("what", NEED)
def test_what_needs_a_program_says_how_to_trust(stranger: Path, tmp_path: Path, what: str) -> None:
    ex = explorer.load(stranger)
    with pytest.raises(
        explorer.errors.NotTrusted, match=r"opened as data.*ex\.trust\(\).*--trusted"
    ):
        NEED[what](ex, tmp_path)
    assert ex.session.state()["attempts"][0]["untrusted"]


@pytest.mark.slow
def test_what_is_read_is_shown_without_trust(stranger: Path, tmp_path: Path) -> None:
    ex = explorer.load(stranger)
    assert ex.ok
    assert ex.diagnosis is None
    assert (ex.fixes, ex.findings, ex.session.attempts, ex.session.fixed_source) == ((), (), (), {})
    assert "stranger.pt2" in repr(ex)
    assert ex.unsupported_ops()
    assert ex.save(tmp_path / "record.json").exists()
    assert ex.save(tmp_path / "report.html").exists()
    assert explorer.diff(stranger, ex).ok
    assert isinstance(ex.session.entry.stored, OpenedFile)
    with pytest.raises(explorer.errors.FixError):
        ex.autofix()


def test_the_findings_of_a_file_are_there_without_trust(tmp_path: Path) -> None:
    torch.export.save(
        torch.export.export(torch.nn.Dropout(0.5).train(), (torch.ones(2, 4),)), tmp_path / "d.pt2"
    )
    ex = explorer.load(tmp_path / "d.pt2")
    assert [each.kind.name for each in ex.findings] == ["TRAINING_MODE", "RANDOM"]
    assert "training mode" in repr(ex)
    assert "not checked (needs the model and its source)" in repr(ex)
    assert "Weight tying is lost" in ex.record.not_looked_for


def test_a_trusted_file_has_a_program_when_it_is_asked_for(stranger: Path) -> None:
    ex = explorer.load(stranger, trusted=True)
    shown = ex.record
    assert isinstance(ex.session.entry.stored, OpenedFile)
    assert not ex.session.state()["attempts"][0]["untrusted"]
    assert isinstance(ex.program, torch.export.ExportedProgram)
    assert ex.program is ex.program
    assert ex.record.graphs == shown.graphs
    assert ex.record.title == "stranger.pt2"
    # That it was trusted once, by an argument, is not kept.
    assert explorer.load(stranger).session.state()["attempts"][0]["untrusted"]


def test_trust_makes_the_program_and_is_kept_for_this_content(
    stranger: Path, tmp_path: Path
) -> None:
    ex = explorer.load(stranger)
    assert ex.trust() is ex
    assert isinstance(ex.program, torch.export.ExportedProgram)
    assert explorer.load(shutil.copy(stranger, tmp_path / "copy.pt2")).program
    stranger.write_bytes(stranger.read_bytes() + b" ")
    with pytest.raises((explorer.errors.NotTrusted, ValueError)):
        _ = explorer.load(stranger).program


def test_what_was_saved_here_is_trusted(own: Path) -> None:
    ex = explorer.load(own)
    assert isinstance(ex.session.entry.stored, OpenedFile)
    assert ex.session.entry.stored.trust == "signed"
    assert isinstance(ex.program, torch.export.ExportedProgram)


def test_a_file_saved_here_and_changed_is_not(own: Path) -> None:
    data = bytearray(own.read_bytes())
    at = data.index(b"relu")
    data[at : at + 4] = b"tanh"
    own.write_bytes(data)
    with pytest.raises((explorer.errors.NotTrusted, ValueError)):
        _ = explorer.load(own).program


def swapped(path: Path, data: bytes) -> None:
    """Puts another content in the file, and its old times on it."""
    known = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


def test_a_file_that_changes_between_opening_and_loading_is_not_loaded(
    own: Path, stranger: Path
) -> None:
    ex = explorer.load(stranger)
    stranger.write_bytes(own.read_bytes())
    with pytest.raises(explorer.errors.FixError, match="has changed since it was opened"):
        ex.trust()
    assert ex.session.state()["attempts"][0]["untrusted"]

    ex = explorer.load(own)
    data = bytearray(own.read_bytes())
    data[data.index(b"relu")] ^= 1
    swapped(own, bytes(data))
    with pytest.raises(explorer.errors.FixError, match="has changed since it was opened"):
        _ = ex.program


@pytest.mark.parametrize("way", ["click", "said"])
def test_a_file_swapped_between_look_and_trust_is_not_run(stranger: Path, way: str) -> None:
    """Whoever can write to the file gives it its old size and its old times."""
    ex = explorer.load(stranger, trusted=way == "said")
    data = bytearray(stranger.read_bytes())
    at = data.index(b"weight_0") + 64  # in the weights or beside them: nothing that was shown
    data[at] ^= 1
    swapped(stranger, bytes(data))
    with pytest.raises(explorer.errors.FixError, match="has changed since it was opened"):
        ex.trust() if way == "click" else ex.program
    data[at] ^= 1
    stranger.unlink()
    stranger.write_bytes(data)  # another file, of the same content
    assert ex.trust().program


def test_a_file_that_was_another_while_it_was_read_is_not_run(
    stranger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shown one content, digested another."""
    other = stranger.with_name("other.pt2")
    torch.export.save(torch.export.export(Small(), (torch.ones(3, 4),)), other)
    of = Content.of.__func__  # type: ignore[attr-defined]

    def swapping(cls: type[Content], path: Path) -> Content:
        stranger.write_bytes(other.read_bytes())
        return of(cls, path)

    with monkeypatch.context() as patched:
        patched.setattr(Content, "of", classmethod(swapping))
        ex = explorer.load(stranger)
    with pytest.raises(explorer.errors.FixError, match="has changed since it was opened"):
        ex.trust()


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A file of two programs."""
    program = torch.export.export(Small(), (torch.ones(2, 4),))
    other = torch.export.export(torch.nn.ReLU(), (torch.ones(3),))
    package_pt2(tmp_path / "both.pt2", exported_programs={"prefill": program, "decode": other})
    return tmp_path / "both.pt2"


def test_a_program_of_several_is_named(
    several: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(several.parent / "data"))
    first = explorer.load(several, model="prefill")
    assert (len(first.record.signature.inputs), first.record.title) == (3, "both.pt2: prefill")
    assert any("decode; explorer.load(path)" in note for note in first.record.warnings)
    ex = explorer.load(several, model="decode", trusted=True)
    assert (len(ex.record.signature.inputs), ex.record.title) == (1, "both.pt2: decode")
    assert [str(node.target) for node in ex.program.graph.nodes][1] == "aten.relu.default"
    assert ex.record.title == "both.pt2: decode"
    with pytest.raises(ValueError, match=r"no program 'other'\. It has 'prefill', 'dec"):
        explorer.load(several, model="other")

    assert main([str(several), "--model", "decode"]) == OK
    assert "both.pt2: decode" in capsys.readouterr().out
    assert main([str(several), "--model", "other"]) == USAGE
    assert "'prefill', 'decode'" in capsys.readouterr().err
    assert main(["module:function", "--model", "decode"]) == USAGE


def test_a_signature_is_of_what_torch_wrote(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can write to the folder swaps the file before anyone could read it back."""
    replace = Path.replace

    def swapping(self: Path, target: Path) -> Path:
        if self.name.endswith(".unfinished.pt2"):
            self.write_bytes(stranger.read_bytes())
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", swapping)
    path = explorer.load(stranger, trusted=True).save(tmp_path / "own.pt2")
    assert path.read_bytes() == stranger.read_bytes()
    assert explorer.load(path).session.state()["attempts"][0]["untrusted"]


def test_a_folder_that_cannot_be_written_spoils_neither_save_nor_load(
    stranger: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(FOLDER, str(tmp_path / "file" / "below"))
    saved = explorer.load(stranger, trusted=True).save(tmp_path / "saved.pt2")
    assert "Could not save trust" in caplog.text
    ex = explorer.load(saved)
    assert ex.session.state()["attempts"][0]["untrusted"]
    ex.trust()
    assert ex.program
    assert any("Could not save trust" in note for note in ex.record.warnings)


def test_the_page_trusts_with_a_click(stranger: Path) -> None:
    ex = explorer.load(stranger)
    changes: list[None] = []
    ex.session.watch(lambda: changes.append(None))
    answers = MessageHandlers(ex.session)
    with pytest.raises(Refusal, match="opened as data"):
        answers("verify", {"attempt": 0, "sizes": 1})
    assert answers("trust", {"attempt": 0}) == (None, [])
    assert changes
    assert not ex.session.state()["attempts"][0]["untrusted"]
    assert ex.program


@pytest.mark.slow
def test_the_command_line_needs_to_be_told(
    stranger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(stranger)]) == OK
    assert main([str(stranger), "--run"]) == USAGE
    assert "--trusted" in capsys.readouterr().err
    assert main([str(stranger), "--run", "--backend", "program", "--trusted"]) in (OK, BAD)
    assert "Runs" in capsys.readouterr().out


def test_a_golden_file_is_compared_as_data(stranger: Path) -> None:
    program = torch.export.load(stranger)
    assert_same_export(program, stranger)
