"""Titles and refusals of fixes after a fix of the code, with the lines of the user's own text."""

from __future__ import annotations

import re
from dataclasses import replace

from export_engine.attempt import Edit, Failed, Fix, NoFix, line_before

_LINE = re.compile(r"\b(lines?) (\d+)\b")


def in_own_lines(found: Fix | NoFix, attempt: Failed) -> Fix | NoFix:
    """What is offered, with lines of a changed text as those that they were made from.

    Args:
        found: a fix, or why there is none.
        attempt: what it is for. Its diagnosis has its place in the text that ran.
    """
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return found
    file = diagnosis.stack[-1].file
    edit = next(
        (other_edit for other_edit in request.edits if other_edit.edited_file == file), None
    )
    if edit is None:
        return found
    if isinstance(found, NoFix):
        return replace(found, reason=_map_lines(found.reason, edit))
    return replace(found, title=_map_lines(found.title, edit))


def _map_lines(text: str, edit: Edit) -> str:
    return _LINE.sub(lambda each: f"{each[1]} {line_before(edit, int(each[2]))}", text)
