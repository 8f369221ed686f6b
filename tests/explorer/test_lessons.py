"""The framework of lessons: replies, hints in steps, progress, a lesson of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import explorer
from explorer.lessons import Answer, LessonError, Wrong, saved_progress
from explorer.lessons.rehearsal import rehearse
from explorer.session.data_folder import FOLDER
from explorer.text.feedback import Line, Reply


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Progress in a folder of the test's own."""
    monkeypatch.setenv(FOLDER, str(tmp_path / "data"))
    yield tmp_path / "data"
    saved_progress._unwritten.clear()


@pytest.fixture
def lesson() -> explorer.typing.Lesson:
    made = explorer.typing.Lesson("Two and three")

    @made.exercise("1", hints=["Add.", "Add 1 to 1."], solution="2")
    def two(answer: Answer) -> None:
        """Give two."""
        answer.equals(2, "That is not two.")

    @made.exercise(2)
    def three(answer: Answer) -> None:
        """Give three."""
        assert answer.value == 3, "That is not three."

    return made


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lin(x).relu()


class Undecided(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sin() if x.sum() > 0 else x


class Frozen(torch.nn.Module):
    """What it returns was a number of Python's while it was traced."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * len(calls)


calls: list[int] = [1]


def answer(shapes: str = "x: batch, _") -> Answer:
    return Answer(explorer.explore(Net(), (torch.randn(2, 4),), dynamic_shapes=shapes))


def test_hints_come_one_by_one_and_the_first_try_is_free(lesson: explorer.typing.Lesson) -> None:
    first = lesson.check("1", 5)
    assert not first.ok
    assert first.reason == "That is not two."
    assert not first.lines
    assert [line.text for line in lesson.check("1", 5).lines] == ["Add."]
    assert [line.text for line in lesson.check("1", 5).lines] == ["Add.", "Add 1 to 1."]
    assert [line.text for line in lesson.check("1", 5).lines] == ["Add.", "Add 1 to 1."]
    assert lesson.check("1", 2).ok


@pytest.mark.slow
def test_the_same_export_checked_again_is_no_new_try_and_gives_no_hint_away() -> None:
    made = explorer.typing.Lesson("Runs all")

    @made.exercise("1", hints=["Not `if`."])
    def exported(answer: Answer) -> None:
        """Export it."""
        answer.exported()

    for _ in range(3):  # as "Run All" does, also in a new kernel
        again = explorer.typing.Lesson("Runs all")
        again.exercises = made.exercises
        reply = again.check("1", Undecided(), (torch.randn(3),))
        assert reply.reason.startswith("It does not export yet")
        assert not reply.lines
    assert saved_progress.get_progress(made.name, "1")["tries"] == 1
    other = made.check("1", Undecided(), (torch.randn(3),), dynamic_shapes="x: n")
    assert [line.text for line in other.lines] == ["Not `if`."]
    for _ in range(2):
        assert made.check("1", Net(), (torch.randn(2, 4),)).ok
    assert saved_progress.get_progress(made.name, "1")["tries"] == 3


def test_hints_can_be_asked_for(lesson: explorer.typing.Lesson) -> None:
    assert "hints are left" in lesson.solution(1).title
    assert [line.text for line in lesson.hint().lines] == ["Add."]
    assert "One hint is left" in lesson.solution(1).title
    assert "lesson.solution" in lesson.hint(1).after
    assert lesson.solution(1).code == "2"


def test_nothing_given_yet_is_no_wrong_answer(lesson: explorer.typing.Lesson) -> None:
    for given in ((), (None,), (...,)):
        reply = lesson.check(1, *given)
        assert reply.kind == "open"
        assert not reply.ok
    assert saved_progress.get_progress(lesson.name, "1")["tries"] == 0


def test_progress_is_kept_and_shown(lesson: explorer.typing.Lesson, folder: Path) -> None:
    lesson.check(1, 2)
    assert "1 of 2 exercises" in repr(lesson.progress())
    assert "✓ 1. Give two (1 try)" in repr(lesson.progress())
    assert "○ 2. Give three" in repr(lesson)
    again = explorer.typing.Lesson("Two and three")
    assert saved_progress.get_progress(again.name, "1")["done"] == 1
    stored = json.loads((folder / "lessons.json").read_text())
    assert stored["two_and_three"]["1"] == {
        "tries": 1,
        "hints": 0,
        "done": 1,
        "answer": 0,
    }
    lesson.check(2, 3)
    assert lesson.progress().ok
    assert not lesson.start_over().ok
    assert lesson.done == 0


def test_a_wrong_answer_later_takes_nothing_away(lesson: explorer.typing.Lesson) -> None:
    lesson.check(1, 2)
    lesson.check(1, 5)
    assert lesson.done == 1


def test_a_folder_that_cannot_be_written_stops_nobody(
    lesson: explorer.typing.Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(FOLDER, str(tmp_path / "file" / "below"))
    lesson.check(1, 2)
    assert lesson.done == 1
    assert "1 of 2" in repr(lesson.progress())


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"two_and_three": 5}', '{"two_and_three": {"1": []}}']
)
def test_a_broken_file_counts_as_nothing(
    lesson: explorer.typing.Lesson, folder: Path, text: str
) -> None:
    folder.mkdir()
    (folder / "lessons.json").write_text(text)
    assert lesson.done == 0
    lesson.check(1, 2)
    assert lesson.done == 1
    if text == "{":
        assert (folder / "lessons.broken.json").read_text() == text


def test_an_answer_that_makes_the_checker_stumble_is_said_so() -> None:
    lesson = explorer.typing.Lesson("Odd")

    @lesson.exercise(1)
    def odd(answer: Answer) -> None:
        """Give an odd number."""
        assert answer.value % 2

    reply = lesson.check(1, "text")
    assert not reply.ok
    assert "cannot be checked: TypeError" in reply.reason


def test_an_unknown_exercise_or_lesson_is_named(
    lesson: explorer.typing.Lesson, tmp_path: Path
) -> None:
    with pytest.raises(LessonError, match=r"no exercise 7 .* Available: 1, 2"):
        lesson.check(7, 1)
    with pytest.raises(LessonError, match="Did you mean soundness"):
        explorer.lesson("sondness")
    with pytest.raises(LessonError, match="no file"):
        explorer.lesson(tmp_path / "none.py")
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(LessonError, match="has no `lesson ="):
        explorer.lesson(tmp_path / "empty.py")


def test_a_reply_is_escaped_and_marks_code() -> None:
    reply = Reply(
        kind="wrong",
        title="Not <b>yet</b>",
        reason="`x < 3` fails & <script>alert(1)</script> an odd ` stays",
        lines=[Line("note", "`a` and `<i>`")],
        code="<img src=x>",
        after="\x1b[31mred",
    )
    html = reply._repr_mimebundle_()["text/html"]

    assert "<script" not in html
    assert "<img" not in html
    assert "<code>a</code> and <code>&lt;i&gt;</code>" in html
    assert "\x1b" not in html + repr(reply)
    assert "✗ Not <b>yet</b>" in repr(reply)


@pytest.mark.after_check
def test_a_model_with_inputs_is_an_answer_too() -> None:
    lesson = explorer.typing.Lesson("Models")

    @lesson.exercise(1)
    def varies(answer: Answer) -> None:
        """Let it vary."""
        answer.varies("x", 0)

    x = torch.randn(2, 4)
    assert not lesson.check(1, Net(), (x,)).ok
    assert lesson.check(1, Net(), (x,), dynamic_shapes="x: batch, _").ok


def refused(ask: Any) -> str:
    with pytest.raises(Wrong) as raised:
        ask()
    return str(raised.value)


@pytest.mark.after_check
def test_what_an_answer_can_be_asked() -> None:
    good = answer()
    good.exported()
    good.mode("non-strict")
    good.varies("x", 0)
    good.fixed("x", 1)
    good.takes(x=(7, 4))
    good.refuses(x=(7, 5))
    good.has_op("linear", "aten.relu.default")
    good.has_no_op("cond")
    good.no_finding("baked-value")
    good.by_hand()
    good.agrees_with_eager()
    assert [kind.kind for kind, _ in good.outputs()] == ["user_output"]

    assert "should be traced in strict" in refused(lambda: good.mode("strict"))
    assert "`x.shape[1]` is fixed at 4" in refused(lambda: good.varies("x", 1))
    assert "varies, as `batch`" in refused(lambda: good.fixed("x", 0))
    assert "no `y.shape[0]`" in refused(lambda: good.varies("y", 0))
    assert "does not accept `x` of shape [7, 5]" in refused(lambda: good.takes(x=(7, 5)))
    assert "should reject" in refused(lambda: good.refuses(x=(7, 4)))
    assert "no `cond`" in refused(lambda: good.has_op("cond"))
    assert "still a `relu`" in refused(lambda: good.has_no_op("relu"))
    assert "is a `int`, not an export" in refused(lambda: Answer(3).exported())
    assert "off by" in refused(lambda: good.agrees_with(torch.sin, (torch.ones(2, 4),)))
    assert "rejects an input of shape [2, 5]" in refused(
        lambda: good.agrees_with(torch.sin, (torch.ones(2, 5),))
    )
    assert "expected a `str`" in refused(lambda: Answer(3).equals("x", "no"))


@pytest.mark.slow
def test_a_failed_export_is_no_answer() -> None:
    failed = Answer(explorer.explore(Undecided(), (torch.randn(2, 4),)))

    assert "It does not export yet. " in refused(failed.exported)
    failed.exploration.autofix()
    failed.exported()
    assert "A fix did that" in refused(failed.by_hand)


@pytest.mark.after_check
def test_a_program_that_is_right_for_the_example_alone_is_noticed() -> None:
    calls[:] = [1]
    frozen = Answer(explorer.explore(Frozen(), (torch.randn(2, 4),), dynamic_shapes="x: batch, _"))
    frozen.agrees_with_eager()
    calls.append(2)
    assert "differ at" in refused(frozen.agrees_with_eager)


OWN_LESSON = '''
import explorer

lesson = explorer.typing.Lesson("My own")


@lesson.exercise(
    1,
    hints=["Look at -d."],
    solution='%export -d "x: n" --as mine (lambda x: x.sin())(x)',
    wrong=["mine = 5", "%export --as mine (lambda x: x.sin())(x)", {third!r}],
)
def grows(answer):
    """Let x grow."""
    answer.varies("x", 0)
'''


def own_notebook(folder: Path, third: str) -> Path:
    (folder / "mine.py").write_text(OWN_LESSON.format(third=third))
    cells = [
        ("%load_ext kernel_ext\nimport torch, explorer\nlesson = explorer.lesson('mine.py')", []),
        ("x = torch.ones(3)", []),
        ("mine = None", ["exercise-1"]),
        ("lesson.check(1, mine)", []),
    ]
    path = folder / "mine.ipynb"
    made = [
        {"cell_type": "code", "source": text, "metadata": {"tags": tags}} for text, tags in cells
    ]
    path.write_text(json.dumps({"cells": made}))
    return path


@pytest.mark.after_check
def test_a_lesson_of_ones_own_is_rehearsed(tmp_path: Path, folder: Path) -> None:
    found = rehearse(own_notebook(tmp_path, "mine = 'text'"))

    assert found.ok, found.problems
    assert [trial.answer for trial in found.trials] == [
        "as shipped",
        "wrong 1",
        "wrong 2",
        "wrong 3",
        "solution",
    ]
    assert not folder.exists()  # the learner's own progress is left alone


@pytest.mark.slow
def test_a_rehearsal_notices_a_checker_that_lets_a_wrong_answer_pass(tmp_path: Path) -> None:
    right = '%export -d "x: *" --as mine (lambda x: x.sin())(x)'
    found = rehearse(own_notebook(tmp_path, right))

    assert not found.ok
    assert "1 wrong 3" in found.problems[0]


@pytest.mark.slow
def test_a_rehearsal_needs_three_wrong_answers_and_every_exercise(tmp_path: Path) -> None:
    path = own_notebook(tmp_path, "1 / 0")
    text = (tmp_path / "mine.py").read_text()
    extra = '\n\n@lesson.exercise(2)\ndef never(answer):\n    """Never asked."""\n'
    (tmp_path / "mine.py").write_text(text.replace('"mine = 5", ', "") + extra)
    problems = "\n".join(rehearse(path).problems)

    assert "fewer than 3 wrong answers" in problems
    assert "exercise 2 is not in the notebook" in problems
    assert "ZeroDivisionError" in problems
    (tmp_path / "text.ipynb").write_text("no notebook")
    with pytest.raises(ValueError, match="is not a notebook"):
        rehearse(tmp_path / "text.ipynb")
