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

from explorer import explore
from explorer.lab.handlers import ProgramHandler, RootHandler

READ = """
import sys
from pathlib import Path
from explorer.lab.handlers import _read
sys.stdout.buffer.write(_read(Path(sys.argv[1])))
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


def path_of(asked: str, root: Path) -> Path:
    """The file that the server opens for a path of its own."""
    handler: Any = SimpleNamespace(contents_manager=SimpleNamespace(root_dir=str(root)))
    return ProgramHandler._path(handler, asked)


def test_only_files_below_the_servers_folder_are_opened(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("a.pt2", "inner/b.pt2", ".hidden/c.pt2", "../outside.pt2"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    (root / "link.pt2").symlink_to(tmp_path / "outside.pt2")
    assert path_of("a.pt2", root) == root / "a.pt2"
    assert path_of("/inner/b.pt2", root) == root / "inner" / "b.pt2"
    for asked in (
        "../outside.pt2",
        "link.pt2",
        ".hidden/c.pt2",
        "inner",
        "none.pt2",
        "/etc/passwd",
    ):
        with pytest.raises(HTTPError):
            path_of(asked, root)


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
