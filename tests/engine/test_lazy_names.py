"""The faces of rooms load under whatever imports them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_faces_load_where_pytest_rewrites_assertions(tmp_path: Path) -> None:
    """As it does for the packages of an installed wheel that brings a plugin of pytest."""
    conftest = "import pytest\npytest.register_assert_rewrite('explorer', 'export_engine')\n"
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_it.py").write_text(
        "def test_it():\n    from export_engine.archive import read\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:export_explorer"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout
