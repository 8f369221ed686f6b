"""What `export-explorer reproduce` writes, where a model's strings hold what a terminal obeys."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from explorer.cli import reproduce as reproduce_command

SCRIPT = 'raise ValueError("\x1b]0;title\x07")\n'
MODEL = "def make():\n    return len, ([1],)\n"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The command's arguments; what it reproduces has control characters."""
    sentence = "1 line raises \x1b[31mValueError\n::error::broken"
    found = SimpleNamespace(script=SCRIPT, issue=SCRIPT, sentence=sentence)
    explored = SimpleNamespace(ok=False, reproduce=lambda seconds: found)
    monkeypatch.setattr(reproduce_command, "explore", lambda *args, **kwargs: explored)
    file = tmp_path / "model.py"
    file.write_text(MODEL, encoding="utf-8")
    return [f"{file}:make"]


def test_a_terminal_gets_neither_script_nor_sentence_with_control_characters(
    told: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    assert reproduce_command.main(told) == 1

    out, err = capsys.readouterr()
    assert out == 'raise ValueError("\ufffd]0;title\ufffd")\n'
    assert "\x1b" not in err
    assert not any(line.startswith("::") for line in err.splitlines())


def test_a_file_gets_the_script_as_it_fails(
    told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    reproduce_command.main(told)

    assert capsys.readouterr().out == SCRIPT
