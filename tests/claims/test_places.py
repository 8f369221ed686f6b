"""A program opens from a folder, a zip, an address, a hub's cache, and standard input."""

from __future__ import annotations

import io
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
import torch

import explorer
from explorer.cli.main import main
from explorer.opening.places import find_path
from export_engine.archive import ArchiveError


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "a model.pt2"
    torch.export.save(torch.export.export(torch.nn.ReLU(), (torch.ones(3),)), path)
    return path


def write_components(folder: Path, file: Path) -> Path:
    for name in ("unet", "vae"):
        (folder / name).mkdir(parents=True)
        shutil.copy(file, folder / name / "model.pt2")
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_components_of_a_checkpoint_are_a_set(file: Path, tmp_path: Path, packed: bool) -> None:
    path = write_components(tmp_path / "pipeline", file)
    if packed:
        path = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", path))
    programs = explorer.load(path)

    assert [*programs] == ["unet", "vae"]
    assert programs["vae"].record.verdict == "loaded, 1 op"
    assert explorer.load(path, model="unet").query("op:relu")


def test_an_address_of_a_file_is_its_path(file: Path) -> None:
    assert find_path(file.as_uri()) == file
    assert explorer.load(file.as_uri()).query("op:relu")
    for wrong in ("file://other.example/model.pt2", "file:", "file://[/model.pt2"):
        with pytest.raises(ArchiveError, match="not the address of a file on this machine"):
            explorer.load(wrong)


@pytest.fixture
def cache(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache as huggingface_hub lays it out: the main revision of owner/name."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="pip install '.[all]'")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    home = tmp_path / "models--owner--name"
    commit = "0123456789abcdef0123456789abcdef01234567"
    for folder in ("refs", "blobs", f"snapshots/{commit}/onnx"):
        (home / folder).mkdir(parents=True)
    (home / "refs" / "main").write_text(commit)
    shutil.copy(file, home / "blobs" / "1")
    (home / "snapshots" / commit / "model.pt2").symlink_to("../../blobs/1")


@pytest.mark.usefixtures("cache")
def test_a_repository_opens_from_the_local_cache_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: object) -> None:
        raise AssertionError("nothing is fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert explorer.load("hf://owner/name/model.pt2").query("op:relu")
    assert explorer.load("hf://owner/name@main/model.pt2").ok
    assert [*explorer.load("hf://owner/name")] == ["model"]
    with pytest.raises(ArchiveError, match=r"other/name is not in the local cache.*hf download"):
        explorer.load("hf://other/name/model.pt2")
    with pytest.raises(ArchiveError, match="does not exist"):
        explorer.load("hf://owner/name/none.pt2")
    for wrong in ("hf://owner", "hf://owner/name/../../x.pt2", "hf://owner/a b"):
        with pytest.raises(ArchiveError, match=r"not an address such as|leads outside|local cache"):
            explorer.load(wrong)


def test_a_program_comes_from_standard_input(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert main(["-"]) == 0
    assert "f32[3]" in capsys.readouterr().out
    assert main(["-", "--diff", "-"]) == 2
    assert main(["file:///nowhere.pt2"]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../../evil.pt2", "/evil.pt2"])
def test_a_zip_writes_nothing_outside_of_its_folder(file: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "in" / "hostile.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(file, name)
        archive.writestr("more.pt2", b"PK\x03\x04 no archive")
    with pytest.raises(ArchiveError):
        explorer.load(path)
    assert {each.name for each in tmp_path.rglob("*")} == {"in", "hostile.zip"}
