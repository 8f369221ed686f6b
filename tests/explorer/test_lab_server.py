"""What JupyterLab's server does with a `.pt2` file: it reads it as data."""

from __future__ import annotations

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
from explorer.lab.handlers import ProgramHandler

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
