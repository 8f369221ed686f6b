"""The command that runs the tests on another torch says what it ran, and what it left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import matrix

README = (matrix.ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_has_the_table_of_all_that_is_supported() -> None:
    head, _, rows = README.partition(matrix.HEAD)
    table = rows.strip().split("\n\n")[0].splitlines()

    assert head
    versions = [row.split("|")[1].strip() for row in table]
    assert list(dict.fromkeys(versions)) == list(matrix.SUPPORTED)
    pythons = [row.split("|")[2].strip() for row in table if matrix.SUPPORTED[-1] in row]
    assert pythons == list(matrix.PYTHONS)


def test_a_row_says_what_ran_and_what_was_left_out() -> None:
    done = matrix.Result("2.15.0", "3.11", "all", 1190, 0, "5: torch sees no NVIDIA GPU here")
    none = matrix.Result("2.15.0", "3.14", "", 0, 0, "there is no Python 3.14 on this machine")

    assert done.ok
    assert done.row() == (
        "| 2.15.0 | 3.11 | all | 1,190 of 1,190 | 5: torch sees no NVIDIA GPU here |"
    )
    assert none.row() == ("| 2.15.0 | 3.14 | – | none | there is no Python 3.14 on this machine |")
    assert not none.ok
    assert not done._replace(failed=1).ok


def test_a_python_that_is_not_here_is_a_row_that_says_so() -> None:
    found = matrix.tested("2.15.0", "9.99", None, [], remove=False)

    assert found.left_out == "there is no Python 9.99 on this machine"
    assert not found.ran


@pytest.mark.slow
def test_a_torch_that_cannot_be_installed_is_a_row_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix, "HOMES", tmp_path)
    nowhere = f"torch @ file://{tmp_path}/torch-99.0-py3-none-any.whl"
    found = matrix.tested(nowhere, sys.executable, None, [], remove=True)

    assert found.left_out.startswith("it could not be installed: ERROR")
    assert not list(tmp_path.iterdir())


def test_results_are_read_off_pytest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    output = (
        "SKIPPED [4] tests/a.py:1: torch sees no NVIDIA GPU here\n"
        "SKIPPED [1] tests/b.py:2: torch sees no NVIDIA GPU here\n"
        "SKIPPED [2] tests/c.py:3: openvino is not installed\n"
        "1 failed, 1187 passed, 7 skipped, 2 errors in 9.00s\n"
    )
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text(f"#!/bin/sh\ncat <<'END'\n{output}END\nexit 1\n")
    python.chmod(0o755)

    assert matrix.run_tests(tmp_path, []) == (
        1187,
        3,
        "5: torch sees no NVIDIA GPU here; 2: openvino is not installed",
    )


def test_the_constraints_leave_torch_to_the_command() -> None:
    names = {each.partition("==")[0] for each in matrix._constraints()}
    assert "numpy" in names
    assert not names & {"torch", "executorch", "torchao"}


def test_it_says_how_it_is_called() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.matrix", "--help"],
        cwd=matrix.ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "--index" in done.stdout
