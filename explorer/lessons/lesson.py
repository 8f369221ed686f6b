"""The Lesson: exercises with checkers, hints in steps, and the learner's progress."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from explorer.exploration import Exploration
from explorer.lessons.answer import Answer, Wrong
from explorer.lessons.course import COURSE, course_line
from explorer.lessons.saved_progress import forget, get_progress, keep
from explorer.text.feedback import Line, Reply
from export_engine.defects import log_internal_error
from export_engine.plain_errors import PlainError, describe_error
from export_engine.source import SourceMissing, source_text

Checker = Callable[[Answer], None]
_Checker = TypeVar("_Checker", bound=Checker)


class LessonError(PlainError, ValueError):
    """A lesson or an exercise that does not exist. The text can be shown unchanged."""


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise. Its checker's docstring is its title."""

    number: str
    checker: Checker
    hints: tuple[str, ...] = ()
    """In order; each tells more than the previous."""
    solution: str = ""
    """The learner's cell with a solution."""
    wrong: tuple[str, ...] = ()
    """Wrong cells that the check must reject; a rehearsal tries them."""

    @property
    def title(self) -> str:
        """The exercise's task, in a few words."""
        return (self.checker.__doc__ or "").strip().partition("\n")[0].removesuffix(".")


class Lesson:
    """A lesson. Make one in a file or in a cell, then add exercises to it."""

    def __init__(self, title: str, *, name: str = "", after: str = "") -> None:
        """Make one.

        Args:
            title: what it is about.
            name: under which progress is kept; made from the title by default.
            after: what to do when it is done: the next lesson.
        """
        self.title = title
        self.name = name or re.sub(r"\W+", "_", title.lower()).strip("_")
        self.after = after
        self.exercises: dict[str, Exercise] = {}

    def exercise(
        self,
        number: str | int,
        *,
        hints: Sequence[str] = (),
        solution: str = "",
        wrong: Sequence[str] = (),
    ) -> Callable[[_Checker], _Checker]:
        """Adds an exercise: a decorator of its checker, whose docstring is the task.

        Args:
            number: the name that the learner uses: `lesson.check("1", ...)`.
            hints: each tells more than the previous.
            solution: the learner's cell with a solution.
            wrong: wrong versions of the learner's cell, which the checker must reject.
        """

        def add(checker: _Checker) -> _Checker:
            key = str(number)
            self.exercises[key] = Exercise(
                number=key,
                checker=checker,
                hints=tuple(hints),
                solution=solution.strip("\n"),
                wrong=tuple(text.strip("\n") for text in wrong),
            )
            return checker

        return add

    def check(self, number: str | int, *given: Any, **options: Any) -> Reply:
        """Checks an answer. A wrong one gets its reason, and from the second on a hint.

        The export that was checked last, of code that did not change, does not count again: "Run
        All" reveals no hint.

        Args:
            number: the exercise's.
            given: the result of `%export`, a plain value, or a model and its arguments as a tuple.
            options: with a model, the options of `explorer.explore`: `dynamic_shapes`.

        Raises:
            LessonError: there is no such exercise.
        """
        exercise = self._exercise(number)
        if not given or given[0] is None or given[0] is ...:
            return Reply(
                kind="open",
                title=f"Exercise {exercise.number} has no answer yet.",
                reason=f"{exercise.title}.",
                after=f'`lesson.hint("{exercise.number}")` gives a hint.',
            )
        answer = Answer(None)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch's warnings about the checker's own code
                answer = Answer(_make_answer(given, options))
                exercise.checker(answer)
        except (Wrong, AssertionError) as error:
            reason = str(error) or "The check failed without a reason."
            return self._refuse(exercise, answer, reason)
        except Exception as error:  # noqa: BLE001 - an answer may be anything, and do anything
            log_internal_error(error, "checking an answer")
            return self._refuse(
                exercise, answer, f"This cannot be checked: {describe_error(error)}"
            )
        entries, _ = self._count_try(exercise, answer)
        keep(self.name, exercise.number, {**entries, "done": 1})
        return Reply(
            kind="right", title=f"Exercise {exercise.number}: right.", after=self._status()
        )

    def hint(self, number: str | int | None = None) -> Reply:
        """The next hint of an exercise, by default of the first unfinished one.

        Raises:
            LessonError: there is no such exercise.
        """
        exercise = self._exercise(self._next() if number is None else number)
        entries = get_progress(self.name, exercise.number)
        seen = min(entries["hints"] + 1, len(exercise.hints))
        keep(self.name, exercise.number, {**entries, "hints": seen})
        return Reply(
            kind="note",
            title=f"Exercise {exercise.number}: {exercise.title}",
            lines=_hints(exercise, seen),
            after=_more(exercise, seen),
        )

    def solution(self, number: str | int) -> Reply:
        """A solution, after all hints were shown.

        Raises:
            LessonError: there is no such exercise.
        """
        exercise = self._exercise(number)
        entries = get_progress(self.name, exercise.number)
        left = len(exercise.hints) - entries["hints"]
        if left > 0 and not entries["done"]:
            return Reply(
                kind="note",
                title=f"{left} hints are left." if left > 1 else "One hint is left.",
                after=f'`lesson.hint("{exercise.number}")` shows the next.',
            )
        return Reply(
            kind="note",
            title=f"Exercise {exercise.number}: a solution",
            code=exercise.solution or "This exercise has none.",
        )

    def progress(self) -> Reply:
        """Which exercises are done, here and in the whole course."""
        lines = []
        for exercise in self.exercises.values():
            entries = get_progress(self.name, exercise.number)
            tries = (
                f" ({_count_text(entries['tries'], 'try', 'tries')})" if entries["tries"] else ""
            )
            text = f"{exercise.number}. {exercise.title}{tries}"
            lines.append(Line("right" if entries["done"] else "open", text))
        done = all(line.kind == "right" for line in lines)
        return Reply(
            kind="right" if done else "note",
            title=self.title,
            lines=lines,
            after=f"{self._status()}\n{course_line()}",
        )

    def start_over(self) -> Reply:
        """Deletes the progress of this lesson."""
        forget(self.name)
        return self.progress()

    def __repr__(self) -> str:
        return repr(self.progress())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return self.progress()._repr_mimebundle_(**options)

    @property
    def done(self) -> int:
        """How many exercises are done."""
        return sum(get_progress(self.name, number)["done"] for number in self.exercises)

    def _count_try(self, exercise: Exercise, answer: Answer) -> tuple[dict[str, int], bool]:
        """The progress of an exercise with this answer, and whether that is a new try."""
        entries = get_progress(self.name, exercise.number)
        number = fingerprint(answer.value)
        is_new = not number or number != entries["answer"]
        return {**entries, "tries": entries["tries"] + is_new, "answer": number}, is_new

    def _refuse(self, exercise: Exercise, answer: Answer, reason: str) -> Reply:
        """The feedback on a wrong answer; the first comes without a hint."""
        entries, is_new = self._count_try(exercise, answer)
        seen = entries["hints"]
        if is_new and entries["tries"] > 1:
            seen = min(seen + 1, len(exercise.hints))
        keep(self.name, exercise.number, {**entries, "hints": seen})
        return Reply(
            kind="wrong",
            title=f"Exercise {exercise.number}: not yet.",
            reason=reason,
            lines=_hints(exercise, seen),
            after=_more(exercise, seen),
        )

    def _exercise(self, number: str | int) -> Exercise:
        result = self.exercises.get(str(number))
        if result is None:
            text = ", ".join(self.exercises) or "none yet"
            raise LessonError(f"There is no exercise {number} in this lesson. Available: {text}.")
        return result

    def _next(self) -> str:
        left = [text for text in self.exercises if not get_progress(self.name, text)["done"]]
        return (left or list(self.exercises) or ["1"])[0]

    def _status(self) -> str:
        done, total = self.done, len(self.exercises)
        if done < total:
            return f"{done} of {total} exercises of this lesson are done."
        return f"All {total} exercises are done. {self.after}".strip()


def _make_answer(given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The answer: what was given, or a model exported with its arguments."""
    if len(given) == 1 and not options:
        return given[0]
    from explorer.opening.exporting import explore

    return explore(*given, **options)


def _hints(exercise: Exercise, seen: int) -> list[Line]:
    return [Line("note", hint) for hint in exercise.hints[:seen]]


def _more(exercise: Exercise, seen: int) -> str:
    call = f'("{exercise.number}")`'
    if seen < len(exercise.hints):
        return f"`lesson.hint{call} gives a hint." if not seen else f"`lesson.hint{call} says more."
    return f"`lesson.solution{call} shows a solution." if exercise.solution else ""


def _count_text(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def fingerprint(answer: Any) -> int:
    """The same number for the same export of the same code; 0 where that is not known."""
    if not isinstance(answer, Exploration):
        return 0
    record = answer.record
    own = [at for at, file in enumerate(record.files) if file.origin in ("cell", "user")]
    try:
        texts = sorted(source_text(record, at) for at in own)
    except SourceMissing:
        return 0
    told = (record.mode, record.shapes, record.verdict, record.fixed_by, texts)
    return zlib.crc32(repr(told).encode()) if texts else 0


def lesson(name: str | Path) -> Lesson:
    """A lesson.

    Args:
        name: one of `COURSE`, or the path of a Python file with a Lesson called `lesson` in it.
            Such a file is run.

    Raises:
        LessonError: there is none.
        Exception: whatever the teacher's file raises.
    """
    if str(name) in COURSE:
        module = importlib.import_module(f"explorer.lessons.course.{name}")
    elif str(name).endswith(".py"):
        module = _from_file(Path(name))
    else:
        near = difflib.get_close_matches(str(name), COURSE, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Available: {', '.join(COURSE)}."
        raise LessonError(
            f"There is no lesson {name}. {hint} For your own lesson, pass the path of its .py file."
        )
    result = getattr(module, "lesson", None)
    if not isinstance(result, Lesson):
        raise LessonError(f'{name} has no `lesson = explorer.typing.Lesson("its title")` in it.')
    return result


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"lesson_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise LessonError(f"There is no file {path}.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where Python looks for the source of its classes
    spec.loader.exec_module(module)
    return module
