"""The command that runs the tests on another torch says what it ran, and what it left out."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests import matrix

README = matrix.README.read_text(encoding="utf-8")


def table(readme: str) -> list[str]:
    head, _, rows = readme.partition(f"{matrix.HEAD}\n")
    assert head
    return rows.split("\n\n")[0].splitlines()


def test_the_readme_has_the_table_of_all_that_is_supported() -> None:
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table(README)]

    assert list(dict.fromkeys(row[0] for row in rows)) == list(matrix.SUPPORTED)
    assert [row[1] for row in rows if row[0] == matrix.SUPPORTED[-1]] == list(matrix.PYTHONS)
    for _, _, ran, passed, left_out, date in rows:
        assert re.fullmatch(r"[\d,]+ of [\d,]+", passed) or (passed, ran) == ("none", "–")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date) or (passed == "none" and left_out != "–")


def test_the_command_writes_its_results_into_the_table() -> None:
    before = [row for row in table(README) if "| 2.14.1 | 3.11 |" not in row]
    mine = matrix.Result("2.14.1", "3.11", '-m "not slow"', 812, 3, "", "2026-12-01")
    nightly = mine._replace(torch="2.16.0.dev20261201")
    after = matrix.with_results(README, [mine, nightly])

    row = '| 2.14.1 | 3.11 | `-m "not slow"` | 812 of 815 | – | 2026-12-01 |'
    assert sorted(table(after)) == sorted([*before, row])
    assert [each.split("|")[1] for each in table(after)] == [
        each.split("|")[1] for each in table(README)
    ]
    assert after.partition(matrix.HEAD)[0] == README.partition(matrix.HEAD)[0]
    assert after.endswith(README.partition(matrix.HEAD)[2].partition("\n\n")[2])
    assert matrix.with_results(after, [mine]) == after


def test_a_row_says_what_ran_and_what_was_left_out() -> None:
    done = matrix.Result("2.15.0", "3.11", "all", 1190, 0, "5: no NVIDIA GPU", "2026-12-01")
    none = matrix.Result("2.15.0", "3.14", "", 0, 0, "there is no Python 3.14 on this machine")

    assert done.ok
    assert done.row() == (
        "| 2.15.0 | 3.11 | all | 1,190 of 1,190 | 5: no NVIDIA GPU | 2026-12-01 |"
    )
    assert none.row() == (
        "| 2.15.0 | 3.14 | – | none | there is no Python 3.14 on this machine | – |"
    )
    assert not none.ok
    assert not done._replace(failed=1).ok
    assert not done._replace(lacks=1).ok


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


TOMORROW = """
import torch, torch._C._dynamo.eval_frame as frames
torch.__version__ = "2.99.0.dev20991231"
del frames._debug_get_cache_entry_list
"""


@pytest.mark.slow
def test_a_nightly_that_lacks_a_name_is_seen_in_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A torch of tomorrow: this one, under a higher version and without a private name."""
    home = tmp_path / "home"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    (packages,) = home.glob("lib/python*/site-packages")
    (packages / "tomorrow.py").write_text(TOMORROW)
    here = [sysconfig.get_path("purelib"), str(matrix.ROOT)]
    (packages / "tomorrow.pth").write_text("\n".join([*here, "import tomorrow", ""]))
    (home / ".made").touch()
    monkeypatch.setattr(matrix, "_install_wheel", lambda _: None)
    monkeypatch.setattr(matrix, "run_tests", lambda *_: (1190, 0, "5: no NVIDIA GPU"))
    found = matrix._tested(home, sys.executable, "torch", "3.11", None, [])

    name = "torch._C._dynamo.eval_frame._debug_get_cache_entry_list"
    row = found.row()
    assert row.startswith("| 2.99.0.dev20991231 | 3.11 | all but the page's | 1,190 of 1,190 | ")
    assert row.endswith(f"; 5: no NVIDIA GPU | {found.date} |")
    assert (  # beside what this torch lacks, if it is older than some names
        f"The comparison with torch.compile is left out. That needs {name}, "
        "which torch 2.99.0.dev20991231 does not have"
    ) in row
    assert not found.ok
