"""Rehearses a lesson's notebook: tries every checker on the solution and on wrong answers.

Cells run in this process. First the whole notebook as shipped: no cell may raise. Then once more,
each exercise's cell as shipped, with each wrong answer in its place, and with the solution; after
each, its check.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from explorer.lessons.lesson import Exercise, Lesson
from explorer.session.data_folder import FOLDER
from explorer.text.feedback import Reply

_TAG = "exercise-"
"""A cell with the tag `exercise-1` holds the learner's answer to exercise 1; the next cell with
`_CHECK` in it checks it."""
_CHECK = "lesson.check("


@dataclass(frozen=True)
class Trial:
    """One answer that was checked."""

    exercise: str
    answer: str
    """`as shipped`, `wrong 1`, `solution`."""
    reply: Reply | None
    """None where a cell raised."""
    wanted: bool
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether the checker answered correctly and no cell raised."""
        return self.reply is not None and self.reply.ok is self.wanted and not self.error

    def __str__(self) -> str:
        text = self.error or (self.reply.reason or self.reply.title if self.reply else "no reply")
        return f"{'ok ' if self.ok else 'BAD'} {self.exercise} {self.answer}: {text}"


@dataclass(frozen=True)
class Rehearsal:
    """The result of a rehearsal."""

    trials: tuple[Trial, ...]
    problems: tuple[str, ...]
    """Problems to fix; empty if the lesson is ready."""

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def rehearse(notebook: str | Path, fewest_wrong: int = 3) -> Rehearsal:
    """Runs a lesson's notebook. The learner's own progress is left alone.

    Args:
        notebook: the `.ipynb` file.
        fewest_wrong: how many wrong answers each exercise must come with.

    Raises:
        OSError: there is no such file.
        ValueError: it is not a notebook.
    """
    cells = _code_cells(Path(notebook))
    with _surroundings(Path(notebook).parent) as shell:
        unsolved = _run_as_shipped(cells, shell)
    with _surroundings(Path(notebook).parent) as shell:
        rehearsal = _rehearse(cells, shell, fewest_wrong)
    return replace(rehearsal, problems=(*unsolved, *rehearsal.problems))


def _run_as_shipped(cells: list[dict[str, Any]], shell: Any) -> list[str]:
    """Errors of cells in the notebook as shipped."""
    errors = [_run(shell, _text(cell))[1] for cell in cells]
    return [f"as shipped, code cell {n}: {error}" for n, error in enumerate(errors) if error]


def _rehearse(cells: list[dict[str, Any]], shell: Any, fewest: int) -> Rehearsal:
    trials: list[Trial] = []
    problems: list[str] = []
    tried: set[str] = set()
    texts, numbers = [_text(cell) for cell in cells], [_number(cell) for cell in cells]
    position = 0
    while position < len(cells):
        number = numbers[position]
        if not number:
            _, error = _run(shell, texts[position])
            problems += [f"code cell {position}: {error}"] if error else []
            position += 1
            continue
        end = _end(texts, position)
        exercise = _lesson(shell).exercises.get(number)
        if exercise is None or end is None:
            problems.append(f"the lesson has no exercise {number}, or no cell checks it")
            position += 1
            continue
        tried.add(number)
        trials += _try_answers(exercise, texts[position], texts[position + 1 : end], shell)
        if len(exercise.wrong) < fewest:
            problems.append(f"exercise {number} has fewer than {fewest} wrong answers")
        position = end
    problems += [str(trial) for trial in trials if not trial.ok]
    missing = set(_lesson(shell).exercises) - tried
    problems += [f"exercise {number} is not in the notebook" for number in sorted(missing)]
    return Rehearsal(tuple(trials), tuple(problems))


def _end(texts: list[str], exercise: int) -> int | None:
    """The position after the cell that checks an exercise."""
    checks = (n for n in range(exercise + 1, len(texts)) if _CHECK in texts[n])
    return next((n + 1 for n in checks), None)


def _try_answers(exercise: Exercise, shipped: str, after: list[str], shell: Any) -> Iterator[Trial]:
    """The answers to one exercise, the right one last, since later cells may build on it."""
    answers = [("as shipped", shipped, False)]
    answers += [(f"wrong {n}", text, False) for n, text in enumerate(exercise.wrong, start=1)]
    answers.append(("solution", exercise.solution, True))
    for name, text, wanted in answers:
        value: Any = None
        error = ""
        for cell in (text, *after):
            value, error = _run(shell, cell) if not error else (None, error)
        reply = value if isinstance(value, Reply) else None
        yield Trial(exercise.number, name, reply, wanted, error)


def _lesson(shell: Any) -> Lesson:
    result = shell.user_ns.get("lesson")
    if not isinstance(result, Lesson):
        raise ValueError("The notebook has no Lesson called `lesson` before its first exercise.")
    return result


def _run(shell: Any, text: str) -> tuple[Any, str]:
    """The value of a cell's last line, and what it raised."""
    from IPython.utils.capture import capture_output

    with capture_output():
        result = shell.run_cell(text, store_history=True)
    error = result.error_before_exec or result.error_in_exec
    return result.result, f"{type(error).__name__}: {error}" if error else ""


@contextmanager
def _surroundings(folder: Path) -> Iterator[Any]:
    """A separate shell in the notebook's folder, with progress in a temporary folder."""
    from IPython.core.interactiveshell import InteractiveShell

    before, data = Path.cwd(), os.environ.get(FOLDER)
    with tempfile.TemporaryDirectory() as own:
        os.environ[FOLDER] = own
        InteractiveShell.clear_instance()
        try:
            os.chdir(folder)
            yield InteractiveShell.instance()
        finally:
            os.chdir(before)
            InteractiveShell.clear_instance()
            os.environ.pop(FOLDER)
            if data is not None:
                os.environ[FOLDER] = data


def _code_cells(path: Path) -> list[dict[str, Any]]:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a notebook.") from error
    return [cell for cell in cells if cell.get("cell_type") == "code"]


def _text(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _number(cell: dict[str, Any]) -> str:
    tags = cell.get("metadata", {}).get("tags", [])
    return next((tag.removeprefix(_TAG) for tag in tags if tag.startswith(_TAG)), "")
