"""Whose file a path of a stack is, and what it is called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from export_engine.describe import FileNames

LINEAR = str(Path(torch.__path__[0]) / "nn" / "modules" / "linear.py")


def test_a_folder_of_packages_beside_the_environments_own_has_libraries(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    code = "from export_engine.source import is_own; print(is_own(sys.path[0] + '/one/a.py'))"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {code}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize(
    ("path", "origin", "name"),
    [
        ("/home/user/net.py", "user", "net.py"),
        (LINEAR, "torch", "torch/nn/modules/linear.py"),
        ("torch/fx/passes/runtime_assert.py", "torch", "torch/fx/passes/runtime_assert.py"),
        (pytest.__file__, "library", "pytest/__init__.py"),
        ("<eval_with_key>.1", "generated", "<eval_with_key>.1"),
        ("/tmp/ipykernel_7/1.py", "cell", "Cell In[3]"),
    ],
)
def test_a_file_is_told_by_its_path(path: str, origin: str, name: str) -> None:
    files = FileNames({"/tmp/ipykernel_7/1.py": "Cell In[3]"})
    entry = files.entries[files.number(path)]
    assert (entry.origin, entry.name) == (origin, name)
