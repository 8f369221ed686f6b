"""Every lesson of the course is rehearsed: the solutions pass, the wrong answers do not."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from explorer.lessons import COURSE, lesson
from explorer.lessons.rehearsal import rehearse

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9][0-9]_*.ipynb"))
LESSONS = [path for path in NOTEBOOKS if path.stem[3:] in COURSE]


@pytest.fixture
def cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for another machine fails."""
    connect = socket.socket.connect

    def near(self: socket.socket, address: Any) -> None:
        outside = self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1")
        assert not outside, f"a lesson asks {address} for something"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", near)


@pytest.mark.usefixtures("cut_off")
def test_what_asks_for_another_machine_is_noticed() -> None:
    with pytest.raises(AssertionError, match="asks"):
        socket.create_connection(("192.0.2.1", 9), timeout=1)


@pytest.mark.slow
@pytest.mark.usefixtures("cut_off")
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_lesson_can_be_given_without_a_network(path: Path) -> None:
    if path.stem[3:] == "delegates":
        pytest.importorskip("executorch", reason="the lesson lowers to XNNPACK")
    found = rehearse(path)

    assert found.ok, "\n".join(found.problems)
    wrong = [trial for trial in found.trials if trial.answer.startswith("wrong")]
    right = [trial for trial in found.trials if trial.answer == "solution"]
    assert len(right) == len(lesson(path.stem[3:]).exercises)
    assert len(right) in (2, 3)
    assert len(wrong) >= 3 * len(right)
    assert all(trial.reply and trial.reply.reason for trial in wrong)


def test_each_lesson_has_its_notebook_in_order() -> None:
    assert [path.stem for path in LESSONS] == [
        f"{number:02d}_{name}" for number, name in enumerate(COURSE, start=1)
    ]
    # test_tour.py runs the one that is no lesson
    assert [path.stem for path in NOTEBOOKS if path not in LESSONS] == ["00_tour"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_is_clean(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]

    assert len({cell["id"] for cell in cells}) == len(cells)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    text = "".join("".join(cell["source"]) for cell in cells)
    assert path not in LESSONS or f'explorer.lesson("{path.stem[3:]}")' in text


@pytest.mark.parametrize("name", COURSE)
def test_a_lesson_leads_on_and_keeps_its_solutions_to_itself(name: str) -> None:
    found = lesson(name)
    notebook = next(path for path in LESSONS if path.stem[3:] == name).read_text()
    following = COURSE.index(name) + 1

    assert found.name == name
    if following < len(COURSE):
        assert COURSE[following] in found.after
    for exercise in found.exercises.values():
        assert exercise.title
        assert exercise.solution not in "".join(
            "".join(cell["source"]) for cell in json.loads(notebook)["cells"]
        )
        assert len(exercise.hints) >= 2
