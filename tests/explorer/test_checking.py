"""`export-explorer check`: what it finds, how it says so, and with which code it ends."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from explorer.cli.check import targets_of
from explorer.cli.check.check_target import Checked, Problem
from explorer.cli.check.reports import FORMATS, markdown
from explorer.cli.main import main
from explorer.exploration import Exploration
from explorer.text.exit_codes import BAD, OK, UNCHECKED, USAGE
from export_engine.rules import GuaranteeSound, GuaranteeState
from export_engine.verify.guarantee import Guarantee, Verified

ROOT = Path(__file__).parents[2]
MODELS = """
import time

import torch


def clean():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).eval(), (torch.ones(3, 4),)


def timed():
    def forward(x):
        return x + time.time()
    return forward, (torch.ones(3, 4),)


def branching():
    def forward(x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()
    return forward, (torch.ones(3),)


def other():
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()).eval(), (torch.ones(3, 4),)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with models, which is the current one."""
    (tmp_path / "models_to_check.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["check", *arguments])
    return code, capsys.readouterr().out


def call(name: str) -> str:
    return f"models_to_check.py:{name}"


def line_of(text: str) -> int:
    return MODELS.splitlines().index(text) + 1


@pytest.mark.after_check
def test_what_is_right_passes(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, call("clean"), "-d", "input: batch, _")
    assert code == OK
    assert "1 checked, 0 failed" in said


@pytest.mark.slow
def test_a_failure_and_a_finding_stand_at_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, call("branching"), call("timed"))
    assert code == BAD
    branch = line_of("        if x.sum() > 0:")
    value = line_of("        return x + time.time()")
    assert f"models_to_check.py:{branch}: error EX111: " in said
    assert f"models_to_check.py:{value}: error EX201: " in said
    assert "2 checked, 2 failed" in said


@pytest.mark.slow
def test_sarif_names_code_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, call("branching"), "--format", "sarif")
    (report,) = json.loads(said)["runs"]
    (result,) = [each for each in report["results"] if each["level"] == "error"]
    place = result["locations"][0]["physicalLocation"]
    assert code == BAD
    assert result["ruleId"] == "EX111"
    assert place["artifactLocation"]["uri"] == "models_to_check.py"
    assert place["region"]["startLine"] == line_of("        if x.sum() > 0:")
    assert [each["id"] for each in report["tool"]["driver"]["rules"]] == ["EX111"]
    assert "torch.cond" in report["tool"]["driver"]["rules"][0]["help"]["text"]


def test_a_comment_on_a_pull_request_holds_no_markup_of_a_model() -> None:
    problem = Problem("EX111", "error", "A branch", "<img src=x> @team [a](b) | c", "model.py", 3)
    checked = Checked("a|b", "not exported", [problem], failed=True, unchecked=False)

    said = markdown([checked])
    assert "1 checked, 1 failed" in said
    assert "EX111" in said
    assert not any(part in said for part in ("<img", "@team", "](b)", "a|b"))


def test_a_comment_shows_a_diff_as_code_and_what_a_delegate_takes() -> None:
    diff = Problem("golden", "error", "Differs", "a.pt2\n+ mul = @team\n```\n" + "- x\n" * 99)
    checked = Checked(
        "a", "exported", [diff], failed=True, unchecked=False, delegated="XNNPACK 97.3%"
    )

    lines = markdown([checked]).splitlines()
    assert "| ✗ | a | exported | XNNPACK 97.3% |" in lines
    code = lines[lines.index("- a: error golden: a.pt2") + 2 :]
    assert code[:2] == ["      + mul = @team", "      ```"]
    assert code[-1] == "      … 41 more lines"
    assert all(line.startswith("      ") for line in code)


def test_the_hook_and_the_action_run_a_command_that_there_is() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    action = yaml.safe_load((ROOT / "action.yml").read_text())

    assert hook["entry"] == "export-explorer check"
    steps = " ".join(step["run"] for step in action["runs"]["steps"])
    assert "export-explorer check $ARGUMENTS --format markdown" in steps
    assert "markdown" in FORMATS


@pytest.mark.slow
def test_json_and_junit_have_every_target(capsys: pytest.CaptureFixture[str]) -> None:
    output = Path("report.xml")
    code, said = run(capsys, call("branching"), "--format", "junit", "--output", str(output))
    suite = ET.parse(output).getroot()
    assert code == BAD
    assert "1 checked, 1 failed" in said
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "EX111"
    _, said = run(capsys, call("clean"), "--format", "json")
    (clean,) = json.loads(said)["checked"]
    assert clean["target"] == call("clean")
    assert not clean["failed"]


@pytest.mark.after_check
def test_a_golden_file_is_written_compared_and_the_difference_said(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = str(project / "golden" / "clean.pt2")
    assert run(capsys, call("clean"), "--golden", golden)[0] == BAD
    assert run(capsys, call("clean"), "--golden", golden, "--update")[0] == OK
    assert run(capsys, call("clean"), "--golden", golden)[0] == OK
    code, said = run(capsys, call("other"), "--golden", golden)
    assert code == BAD
    assert "error golden: " in said
    assert "gelu" in said
    assert "export-explorer check --update" in said


def test_a_config_says_what_to_check_and_what_fails(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = "[[tool.export-explorer.check]]\n"
    config = f'{table}call = "{call("clean")}"\n{table}call = "{call("timed")}"\nname = "clock"\n'
    (project / "pyproject.toml").write_text(config, encoding="utf-8")
    inner = project / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    code, said = run(capsys, "--config", "../pyproject.toml")
    assert code == BAD
    assert "✗ clock: " in said
    assert "2 checked, 1 failed" in said


def test_a_file_is_checked_as_it_was_saved(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = str(project / "clean.pt2")
    run(capsys, call("clean"), "--golden", golden, "--update")
    code, said = run(capsys, golden)
    assert code == OK
    assert "1 checked, 0 failed" in said


def test_the_config_of_the_docs_is_one(project: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "continuous-integration.md").read_text()
    (project / "docs.toml").write_text(page.split("```toml")[1].split("```")[0])
    (target,) = targets_of(Path("docs.toml"))
    assert (target.call, target.fail_on) == ("models/tiny.py:make", "warning")
    assert target.verify


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("", "lists nothing to check"),
        ("[tool", "is not TOML"),
        ('[[tool.export-explorer.check]]\ncal = "a:b"\n', "unknown field `cal`"),
        ('[[tool.export-explorer.check]]\ncall = "a:b"\nfail-on = "all"\n', "Invalid enum value"),
        ('[[tool.export-explorer.check]]\ncall = "nowhere.py:make"\n', "There is no file"),
    ],
)
def test_a_config_that_is_not_right_is_told_where(
    project: Path, capsys: pytest.CaptureFixture[str], config: str, says: str
) -> None:
    (project / "pyproject.toml").write_text(config, encoding="utf-8")
    assert main(["check"]) == USAGE
    assert says in capsys.readouterr().err


def test_what_was_not_checked_is_named_with_the_command_that_says_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        Guarantee(rule=rule, verdict="not checked", sentence="", lacking=lacking)
        for rule, lacking in ((GuaranteeState, ""), (GuaranteeSound, "the eager model"))
    ]
    monkeypatch.setattr(Exploration, "verify", lambda _: Verified(tuple(rows)))
    code, said = run(capsys, call("clean"), "-d", "input: batch, _", "--verify")
    assert code == UNCHECKED
    lines = said.splitlines()
    at = lines.index("    not checked, but can be: state")
    assert lines[at + 1] == (
        f"      → export-explorer {call('clean')} --verify -d 'input: batch, _'"
    )
