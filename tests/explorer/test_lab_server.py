"""What JupyterLab's server does with a `.pt2` file: it reads it as data."""

from __future__ import annotations

import asyncio
import inspect
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tornado.web import HTTPError

from explorer import explore, explore_many
from explorer.lab.handlers import ProgramHandler, RootHandler
from explorer.opening.file_page import page_of_file
from export_engine.archive import ArchiveError

READ = """
import sys
from pathlib import Path
from explorer.opening.file_page import page_of_file
sys.stdout.buffer.write(page_of_file(*map(Path, sys.argv[1:])))
assert "torch" not in sys.modules
"""


@pytest.mark.slow
def test_a_file_is_read_without_torch(tmp_path: Path) -> None:
    file = explore(torch.nn.ReLU(), (torch.ones(3),)).save(tmp_path / "relu.pt2")
    command = [sys.executable, "-c", READ, str(file)]
    reply = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    (attempt,) = reply["attempts"]
    assert attempt["outcome"] == "exported"
    assert len(reply["records"]) == 1
    assert any(
        "relu" in "".join(text for _, text in line) for line in reply["codes"][0][0]["lines"]
    )


@pytest.mark.slow
def test_all_programs_of_a_file_are_read_without_torch(tmp_path: Path) -> None:
    calls = {name: (torch.nn.ReLU(), (torch.ones(3),)) for name in ("prefill", "decode")}
    file = explore_many(calls).save(tmp_path / "many.pt2")
    command = [sys.executable, "-c", READ, str(file)]
    reply = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert len(reply["records"]) == 2
    assert [each["name"] for each in reply["programs"]["set"]["components"]] == [*calls]


@pytest.mark.slow
def test_two_files_are_compared_without_torch(tmp_path: Path) -> None:
    old = explore(torch.nn.ReLU(), (torch.ones(3),)).save(tmp_path / "old.pt2")
    new = explore(torch.nn.Sigmoid(), (torch.ones(3),)).save(tmp_path / "new.pt2")
    command = [sys.executable, "-c", READ, str(new), str(old)]
    reply = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert (reply["current"], reply["compared"]) == (1, 0)
    assert [each["step"].split(",")[0] for each in reply["attempts"]] == ["old.pt2", "new.pt2"]
    assert reply["diffs"][1][0]["graphs"][0]["pairs"] or reply["diffs"][1][0]["graphs"][0]["added"]


def test_the_file_that_is_not_a_program_is_named(tmp_path: Path) -> None:
    good = explore(torch.nn.ReLU(), (torch.ones(3),)).save(tmp_path / "good.pt2")
    (tmp_path / "bad.pt2").write_bytes(b"no archive")
    for pair in ((good, tmp_path / "bad.pt2"), (tmp_path / "bad.pt2", good)):
        with pytest.raises(ArchiveError, match=r"bad\.pt2"):
            page_of_file(*pair)


def path_of(asked: str, root: Path) -> Path:
    """The file that the server opens for a path of its own."""
    handler: Any = SimpleNamespace(contents_manager=SimpleNamespace(root_dir=str(root)))
    return ProgramHandler._path(handler, asked)


def test_the_suffix_says_that_a_page_is_saved(tmp_path: Path) -> None:
    calls = {"one": (torch.nn.ReLU(), (torch.ones(3),))}
    for each in (explore(torch.nn.ReLU(), (torch.ones(3),)), explore_many(calls)):
        page = each.save(tmp_path / "page.html")
        assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_only_files_below_the_servers_folder_are_opened(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("a.pt2", "inner/b.pt2", ".hidden/c.pt2", "../outside.pt2"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    (root / "link.pt2").symlink_to(tmp_path / "outside.pt2")
    (root / "circle.pt2").symlink_to(root / "circle.pt2")
    assert path_of("a.pt2", root) == root / "a.pt2"
    assert path_of("/inner/b.pt2", root) == root / "inner" / "b.pt2"
    for asked in (
        "../outside.pt2",
        "link.pt2",
        ".hidden/c.pt2",
        "inner",
        "none.pt2",
        "/etc/passwd",
        "a" * 5_000 + ".pt2",
        "a\0.pt2",
        "circle.pt2",
    ):
        with pytest.raises(HTTPError):
            path_of(asked, root)


def test_a_server_whose_contents_are_in_no_folder_has_no_such_file() -> None:
    with pytest.raises(HTTPError, match="does not store its files in a folder"):
        ProgramHandler._path(SimpleNamespace(contents_manager=SimpleNamespace()), "a.pt2")  # type: ignore[arg-type]


@pytest.mark.parametrize("handler", [ProgramHandler, RootHandler])
def test_who_may_not_read_contents_reads_no_program(handler: Any) -> None:
    asked: list[tuple[str, str]] = []

    def is_authorized(_: Any, user: str, action: str, resource: str) -> bool:
        asked.append((action, resource))
        return False

    request = SimpleNamespace(method="GET", path="/export-explorer/program", headers={})
    refusing: Any = SimpleNamespace(
        current_user="guest",
        request=request,
        auth_resource=handler.auth_resource,
        authorizer=SimpleNamespace(is_authorized=is_authorized),
        settings={},
    )
    with pytest.raises(HTTPError) as refused:
        asyncio.run(handler.get(refusing))
    assert refused.value.status_code == 403
    assert asked == [("read", "contents")]


def test_the_page_is_told_the_folder_that_is_served_by_both_its_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    said: list[Any] = []
    for root in (str(tmp_path / "linked"), ""):
        contents = SimpleNamespace(root_dir=root)
        handler: Any = SimpleNamespace(contents_manager=contents, finish=said.append)
        asyncio.run(inspect.unwrap(RootHandler.get)(handler))
    real, linked = tmp_path.resolve() / "real", tmp_path / "linked"
    assert said == [{"roots": sorted([str(real), str(linked)])}, {"roots": []}]
