"""What the teacher's page shows works as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from explorer.lessons import COURSE, Answer, lesson
from explorer.lessons.__main__ import main

PAGE = (Path(__file__).parents[2] / "notebooks" / "TEACHING.md").read_text(encoding="utf-8")
SETUP = """
%load_ext kernel_ext
import torch, explorer
lesson = explorer.lesson("my_lesson.py")
x = torch.randn(2, 3)
class Named(torch.nn.Module):
    def forward(self, x):
        return x.relu()
model = Named()
"""


@pytest.mark.slow
def test_the_lesson_on_the_page_can_be_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (file,) = [block for block in blocks if block.startswith("# my_lesson.py")]
    (cells,) = [block for block in blocks if "exercise-1" in block]
    export, check = [line for line in cells.splitlines() if line.startswith(("%", "lesson.check"))]
    (tmp_path / "my_lesson.py").write_text(file)
    sources = [(SETUP, []), (export.partition("#")[0], ["exercise-1"]), (check, [])]
    made = [
        {"cell_type": "code", "source": text, "metadata": {"tags": tags}} for text, tags in sources
    ]
    (tmp_path / "own.ipynb").write_text(json.dumps({"cells": made}))

    assert "python -m explorer.lessons my_lesson.ipynb" in PAGE
    ended = main([str(tmp_path / "own.ipynb")])

    said = capsys.readouterr().out
    assert ended == 0, said
    assert said.count("\n  ok  1 ") == 5
    assert "ok  1 solution" in said


def test_all_that_the_page_says_an_answer_can_be_asked_is_there() -> None:
    asked = set(re.findall(r"`answer\.(\w+)", PAGE)) | set(re.findall(r"answer\.(\w+)\(", PAGE))

    public = {name for name in vars(Answer) if not name.startswith("_")} | {"value"}
    assert asked >= public - {"exploration"}
    assert asked <= public


def test_the_page_lists_the_course() -> None:
    titles = re.findall(r"^\| \d\d \| ([^|]+) \|", PAGE, re.MULTILINE)

    assert titles == [lesson(name).title for name in COURSE]
