"""The command that runs the tests on another torch says what it ran, and what it left out."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests import matrix
from tests.matrix_table import HEAD, SUPPORTED, Result, with_results
from tests.shared_packages import share

PAGE = matrix.TABLE.read_text(encoding="utf-8")


def table(page: str) -> list[str]:
    head, _, rows = page.partition(f"{HEAD}\n")
    assert head
    return rows.split("\n\n")[0].splitlines()


def test_the_docs_have_the_table_of_all_that_is_supported() -> None:
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table(PAGE)]

    assert list(dict.fromkeys(row[0] for row in rows)) == list(SUPPORTED)
    pythons = dict.fromkeys(row[1] for row in rows if row[0] == SUPPORTED[-1])
    assert list(pythons) == list(matrix.PYTHONS)
    for _, _, ran, passed, left_out, date in rows:
        assert re.fullmatch(r"[\d,]+ of [\d,]+", passed) or (passed, ran) == ("none", "–")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date) or (passed == "none" and left_out != "–")


RAN = Result("2.14.1", "3.11", "fast", 812, 3, "", "2026-12-01")
NONE = Result("2.14.1", "3.12", "", 0, 0, "there is no Python 3.12 on this machine")
ANOTHER = RAN._replace(torch="2.15.0", python="3.13", ran="-m 'not slow' tests/engine")


def written(*results: Result) -> list[str]:
    """A table of nothing, and then of these, one run after the other."""
    readme = f"before\n{HEAD}\n{RAN._replace(torch='2.11.0').row()}\n\nafter | all\n"
    for each in results:
        readme = with_results(readme, [each])
    before, _, rest = readme.partition(f"{HEAD}\n{RAN._replace(torch='2.11.0').row()}\n")
    rows, _, after = rest.partition("\n\n") if rest[0] == "|" else ("", "", rest[1:])
    assert (before, after) == ("before\n", "after | all\n")
    return rows.splitlines()


def test_single_runs_are_rows_of_one_table() -> None:
    slow, all_ran = RAN._replace(ran="slow"), RAN._replace(ran=matrix.ALL, passed=900)
    again = RAN._replace(passed=815, failed=0)

    assert written(slow, ANOTHER, RAN) == [RAN.row(), slow.row(), ANOTHER.row()]
    assert written(RAN, slow, again) == [again.row(), slow.row()]
    assert written(RAN, slow, all_ran) == [all_ran.row()]
    assert written(RAN) == ["| 2.14.1 | 3.11 | fast | 812 of 815 | – | 2026-12-01 |"]


def test_a_torch_that_could_not_be_had_takes_no_result_away() -> None:
    lost = RAN._replace(
        ran="", passed=0, failed=0, left_out="it could not be installed: no", date=""
    )
    nightly = RAN._replace(torch="2.16.0.dev20261201")

    assert written(NONE, RAN, lost, nightly) == [RAN.row(), NONE.row()]
    assert written(NONE, RAN._replace(python="3.12")) == [RAN._replace(python="3.12").row()]


def test_the_command_writes_into_the_docs() -> None:
    mine = RAN._replace(ran=matrix.ALL)
    after = with_results(PAGE, [mine])

    assert mine.row() in table(after)
    assert after.partition(HEAD)[0] == PAGE.partition(HEAD)[0]
    assert after.endswith(PAGE.partition(HEAD)[2].partition("\n\n")[2])
    assert with_results(after, [mine]) == after


def test_a_row_says_what_ran_and_what_was_left_out() -> None:
    done = Result("2.15.0", "3.11", "all", 1190, 0, "5: no NVIDIA GPU", "2026-12-01")
    none = Result("2.15.0", "3.14", "", 0, 0, "there is no Python 3.14 on this machine")

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

    def stops(*command: object, timeout: float | None = None) -> str:
        if timeout is None:
            return ""
        raise subprocess.TimeoutExpired(str(command), timeout)

    monkeypatch.setattr(matrix, "_run", stops)
    late = matrix.tested(nowhere, sys.executable, None, [], remove=True)
    minutes = matrix.INSTALL_SECONDS // 60
    assert late.left_out == f"it could not be installed within {minutes} minutes"


def test_results_are_read_off_pytest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    output = (
        "SKIPPED [4] tests/a.py:1: torch sees no NVIDIA GPU here\n"
        "SKIPPED [1] tests/b.py:2: torch sees no NVIDIA GPU here\n"
        "SKIPPED [2] tests/c.py:3: openvino is not installed.\n"
        "1 failed, 1187 passed, 7 skipped, 2 errors in 9.00s\n"
    )
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text(f"#!/bin/sh\ncat <<'END'\n{output}END\nexit 1\n")
    python.chmod(0o755)

    assert matrix.run_tests(tmp_path, []) == (
        1187,
        3,
        "2: openvino is not installed; 5: torch sees no NVIDIA GPU here",
    )


def test_what_a_torch_lacks_is_said_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".made").touch()
    lost = "In strict mode, objects cannot be returned."
    monkeypatch.setattr(matrix, "_install_wheel", lambda _: None)
    monkeypatch.setattr(matrix, "_run", lambda *_: "2.11.0+cu130\n")
    monkeypatch.setattr(matrix, "lacking", lambda _: {lost: True, "Lines are left out.": True})
    monkeypatch.setattr(matrix, "run_tests", lambda *_: (9, 0, f"3: {lost[:-1]}; 5: no GPU"))
    found = matrix._tested(tmp_path, "python", "2.11.0", "3.11", None, ["fast"])

    assert found.left_out == f"Lines are left out; 3: {lost[:-1]}; 5: no GPU"


@pytest.mark.slow
def test_a_named_suite_is_what_the_row_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text('#!/bin/sh\nfor each; do echo "SKIPPED [1] a.py:1: $each"; done\n')
    python.chmod(0o755)

    for suite, marks in (("fast", "not slow and not browser"), ("slow", "slow and not browser")):
        given = matrix.run_tests(tmp_path, [suite])[2].split("; ")
        assert f"1: {marks}" in given
        assert "1: --ignore=tests/browser" in given
    assert "not browser" not in matrix.run_tests(tmp_path, ["tests/engine"])[2]


@pytest.mark.parametrize(
    ("option", "passed", "failed", "code"),
    [
        ([], 0, 0, 1),
        (["--if-installable"], 0, 0, 0),
        (["--if-installable"], 9, 1, 1),
        (["--if-installable"], 9, 0, 0),
    ],
)
def test_a_torch_that_is_not_to_be_had_may_pass_and_a_test_that_fails_may_not(
    monkeypatch: pytest.MonkeyPatch, option: list[str], passed: int, failed: int, code: int
) -> None:
    result = Result("2.15.0", "3.11", "fast" if passed else "", passed, failed, "")
    monkeypatch.setattr(matrix, "tested", lambda *_: result)
    monkeypatch.setattr(sys, "argv", ["matrix", "newest", *option])

    assert matrix.main() == code


@pytest.mark.slow
def test_an_environment_of_the_same_python_finds_what_is_here_but_for_torch(tmp_path: Path) -> None:
    home, links = tmp_path / "home", tmp_path / "links"
    here = {each.name for each in Path(sysconfig.get_path("purelib")).iterdir()}
    if "msgspec" not in here:
        pytest.skip("this environment has its packages from another one")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)

    assert share(home, links, ["msgspec", "pytest-xdist[psutil]"], ["psutil", "torch"])
    for code, works in [("import msgspec, xdist, pytest", True), ("import psutil", False)]:
        ran = subprocess.run([home / "bin" / "python", "-I", "-c", code], check=False)
        assert (ran.returncode == 0) is works
    assert not {"torch", "psutil", "numpy"} & {each.name for each in links.iterdir()}
    assert {each.name for each in Path(sysconfig.get_path("purelib")).iterdir()} == here


def test_what_is_not_here_is_not_shared(tmp_path: Path) -> None:
    site = tmp_path / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    assert not share(tmp_path, tmp_path / "links", ["pytest"], [])
    site.mkdir(parents=True)
    assert not share(tmp_path, tmp_path / "links", ["no-such-package-as-this"], [])
    assert not list(site.iterdir())


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
