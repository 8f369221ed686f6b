"""An upgrade names the models that a release changes, and the release that does."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from explorer.cli.main import main
from explorer.surveys.environments import InstallError, is_installed, make_environment
from explorer.surveys.plan import SurveyError
from explorer.surveys.upgrading import upgrade

RELEASES = ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"]
MODELS = """
import torch, planted

class Fails(torch.nn.Module):
    def forward(self, x):
        if planted.NUMBER >= 12 and x.sum() > 0:
            return x.sin()
        return x.cos()

class Changes(torch.nn.Module):
    def forward(self, x):
        return x.relu() if planted.NUMBER < 14 else x.relu().relu()

class Stays(torch.nn.Module):
    def forward(self, x):
        return x + 1

def make(kind):
    return lambda: (kind(), (torch.ones(3),))

fails, changes, stays = map(make, (Fails, Changes, Stays))
"""
SURVEY = """
fix = false
[[model]]
call = "models.py:fails"
name = "fails"
[[model]]
call = "models.py:changes"
name = "changes"
[[model]]
call = "models.py:stays"
name = "stays"
"""


def write_wheel(folder: Path, version: str) -> None:
    """A package `planted` that knows its version."""
    info = f"planted-{version}.dist-info"
    number = version.replace(".", "")
    with zipfile.ZipFile(folder / f"planted-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("planted.py", f"NUMBER = {number}\n")
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: planted\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def survey_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version in RELEASES:
        write_wheel(wheels, version)
    for installer in ("PIP", "UV"):
        monkeypatch.setenv(f"{installer}_NO_INDEX", "1")
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(wheels))
    (tmp_path / "models.py").write_text(MODELS, encoding="utf-8")
    file = tmp_path / "survey.toml"
    file.write_text(SURVEY, encoding="utf-8")
    return file


@pytest.mark.thorough  # a process for each trial and release
def test_each_change_is_traced_to_its_release(
    survey_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    releases = ["--from", "planted==1.0", "--to", "planted==1.5"]
    out = survey_file.with_name("upgrade.json")

    code = main(["upgrade", str(survey_file), *releases, "--output", str(out)])

    said = capsys.readouterr().out
    changes = {each["name"]: each for each in json.loads(out.read_text())["changes"]}
    assert code == 1
    assert {name.split(" ")[0]: each["kind"] for name, each in changes.items()} == {
        "fails": "fails now",
        "changes": "program changed",
    }
    assert changes["fails · non-strict"]["since"] == {"last": "1.1", "first": "1.2"}
    assert changes["changes · non-strict"]["since"] == {"last": "1.3", "first": "1.4"}
    assert "planted 1.0 → 1.5: 3 trials in both surveys, 2 changed." in said
    assert "fails · non-strict changed with planted 1.2 (as before with 1.1)." in said


def test_a_release_that_does_not_exist_is_said_in_a_sentence(
    survey_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["upgrade", str(survey_file), "--from", "planted==9.0", "--to", "planted==1.5", "--quiet"]
    )

    said = capsys.readouterr().err
    assert code == 2
    assert "The environment could not be made." in said
    assert "planted==9.0" in said


@pytest.mark.parametrize(
    ("before", "after"),
    [("torch", "torch==2.15.0"), ("torch==2.13.0", "numpy==2.0"), ("torch>=2.13", "torch==2.15")],
)
def test_only_two_releases_of_one_package_are_compared(
    before: str, after: str, tmp_path: Path
) -> None:
    with pytest.raises(SurveyError, match="two releases of one package"):
        upgrade({"model": [{"call": "m:f"}]}, before, after, folder=tmp_path)


def test_a_release_that_cannot_be_installed_is_left_out_of_the_search(
    survey_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(requirement: str, more: Sequence[str], folder: Path) -> str:
        if requirement == "planted==1.3":
            raise InstallError("There is no wheel.")
        return requirement.partition("==")[2]

    from explorer.surveys import upgrading
    from explorer.surveys.plan import Trial
    from explorer.surveys.result import SurveyResult
    from explorer.surveys.rows import Row

    def carry_out(trials: Sequence[Trial], *_: object) -> SurveyResult:
        return SurveyResult(
            [
                Row(
                    key=each.key,
                    name=each.name,
                    outcome="failed" if each.python >= "1.3" else "exported",
                )
                for each in trials
            ]
        )

    monkeypatch.setattr(upgrading, "list_versions", lambda _: RELEASES)
    monkeypatch.setattr(upgrading, "carry_out", carry_out)

    found = upgrade(
        survey_file, "planted==1.0", "planted==1.5", folder=survey_file.parent / "up", make=make
    )

    assert set(found.since.values()) == {("1.2", "1.4")}
    assert found.problems == ("1.3 was left out: There is no wheel.",)
    assert not found.ok


def test_this_python_is_used_for_the_release_that_it_has(tmp_path: Path) -> None:
    import sys

    import torch

    requirement = f"torch=={torch.__version__.partition('+')[0]}"

    assert is_installed(requirement)
    assert make_environment(requirement, [], tmp_path) == sys.executable
    assert not is_installed("torch>=2.11")
    assert not is_installed("surely-not-there==1")
