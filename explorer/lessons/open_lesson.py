"""Opens a lesson: one of the course by its name, or a teacher's own file."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from explorer.lessons.course import COURSE
from explorer.lessons.lesson import Lesson, LessonError


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
