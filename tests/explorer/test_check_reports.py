"""What a report holds of texts that an archive brought: text, and nothing that a reader acts on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch

from explorer.cli.check.check_target import Checked
from explorer.cli.check.problem import Problem
from explorer.cli.check.reports import FORMATS
from explorer.cli.main import main
from explorer.text.escape import escape_log, harmless
from explorer.text.exit_codes import USAGE
from tests.engine.hostile.corpus import MODEL, Base
from tests.engine.hostile.programs import dumped, renamed

COMMANDS = (
    "::error file=a.py::fine",
    "  ::stop-commands::x",
    "::add-mask::e",
    "a ##[error]b",
    "##vso[task.setvariable variable=a]b",
    "##teamcity[buildStop]",
)
"""Lines that GitHub, Azure or TeamCity act on when a step prints them."""
BENIGN = "a::b, std::vector, # title, ## title"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_of_a_log_is_no_command(command: str) -> None:
    for line in escape_log(f"before\n{command}\nafter").splitlines():
        assert not line.lstrip().startswith("::")
        assert not any(sign in line for sign in ("##[", "##vso", "##teamcity"))
    assert escape_log(BENIGN) == BENIGN


def hostile(text: str) -> Checked:
    sentence = f"It is.\n{text}\n[open](https://a.example)\x1b[2J"
    problem = Problem("EX201", "error", text, sentence, f"a b/{text}.py", 3)
    return Checked(f"a\n{text}", f"exported\n{text}", [problem], failed=True, unchecked=False)


@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize("text", COMMANDS)
def test_a_report_gives_a_ci_system_no_command(style: str, text: str) -> None:
    report = FORMATS[style]([hostile(text)])
    assert escape_log(report) == report
    assert harmless(report) == report


def test_sarif_has_no_links_and_addresses_that_are_uris() -> None:
    (run,) = json.loads(FORMATS["sarif"]([hostile("x")]))["runs"]
    (result,) = run["results"]
    assert "](" not in result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b/x.py"


def test_what_is_said_on_stderr_is_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "\x1b[2J\n::error::none.pt2")]) == USAGE
    said = capsys.readouterr().err
    assert harmless(said) == said == escape_log(said)
    assert "does not exist" in said


@pytest.mark.skipif(sys.platform == "win32", reason="no such name of a file there")
def test_a_file_is_named_without_its_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "\u200f\x1b[31mred.pt2"
    file.write_bytes(b"no archive")
    assert main([str(file)]) == USAGE
    assert "\x1b" not in capsys.readouterr().err


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Base:
    file = tmp_path_factory.mktemp("archive") / "plain.pt2"
    torch.export.save(torch.export.export(torch.nn.Linear(2, 2), (torch.ones(3, 2),)), file)
    return Base(file.read_bytes())


@pytest.mark.after_check
@pytest.mark.parametrize("old", ["input", "linear"])
@pytest.mark.parametrize("text", COMMANDS)
def test_a_name_in_an_archive_is_no_command(
    archive: Base, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, old: str
) -> None:
    program = json.loads(archive.parts[MODEL])
    plain, changed = tmp_path / "plain.pt2", tmp_path / "changed.pt2"
    plain.write_bytes(archive.with_part(MODEL, dumped(program)))
    changed.write_bytes(archive.with_part(MODEL, dumped(renamed(program, old, text))))
    for asked in ([], ["--diff", str(plain)]):
        main([str(changed), *asked])
    main(["check", str(changed)])
    said = "".join(capsys.readouterr())
    assert escape_log(said) == said
    assert harmless(said) == said
    assert "changed.pt2" in said
