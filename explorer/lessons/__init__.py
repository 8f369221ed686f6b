"""Lessons: notebooks with exercises that check what the learner exported.

    lesson = explorer.lesson("static_and_dynamic_dims")
    lesson.check("1", mine)      # right, or the reason why not; each further try adds a hint
    lesson.progress()

A lesson of your own is one Python file, or a cell: see `notebooks/TEACHING.md`.
"""

from __future__ import annotations

from explorer.lessons.answer import Answer, Wrong
from explorer.lessons.course import COURSE
from explorer.lessons.lesson import Lesson, LessonError, lesson

__all__ = ["COURSE", "Answer", "Lesson", "LessonError", "Wrong", "lesson"]
