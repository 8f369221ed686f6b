"""Lines of the user's own text: statements that share one, and titles of fixes after a fix.

Rewrites replace whole lines. A failure that none of them cures is looked at once more with the
function around it written out, `for each in x: y = y + each` on two lines, which does the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from export_engine.attempt import Edit, Failed, Fix, NoFix, Request, line_before, text_in_effect
from export_engine.diagnose import diagnose
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Piece, Rewritten, Source
from export_engine.fixes.code.editing.try_edit import find_fixing_places, try_edit, with_edit
from export_engine.source import original_file

_DEEPER = "    "


def write_one_per_line(attempt: Failed) -> tuple[Failed, Edit] | None:
    """The failure of the function written out, and the edit; None where it has lines of its own."""
    request = attempt.request
    if request is None or attempt.diagnosis is None:
        return None
    for place in find_fixing_places(attempt):
        text, line = text_in_effect(request.edits, place.file, place.line)
        try:
            rewritten = on_own_lines(text, line)
        except CannotRewrite:
            continue
        edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
        result = try_edit(request, edit)
        if isinstance(result, Failed):
            return replace(result, diagnosis=diagnose(result)), edit
    return None


def after(edit: Edit, fix: Fix) -> Fix:
    """A fix of what was written out, as one of the code as it is."""
    return replace(fix, change=partial(_both, edit, fix))


def _both(edit: Edit, fix: Fix, request: Request) -> Request:
    return fix.change(with_edit(request, edit))


def on_own_lines(text: str, line: int) -> Rewritten:
    """The text with each statement of the function around a line on a line of its own.

    Raises:
        CannotRewrite: they are, or there is no function.
    """
    source = Source(text, line)
    owner = source.function
    indent = text[source.line_start(owner) :][: owner.col_offset]
    pieces = list(_apart(source, owner, indent))
    if indent.strip() or not pieces:
        raise CannotRewrite("each statement has a line of its own")
    return source.replace(pieces)


def _apart(source: Source, owner: ast.AST, indent: str) -> Iterator[Piece]:
    """Line breaks before the statements in an owner that do not begin their lines."""
    for header, block in _blocks(owner, indent):
        deeper = header + _DEEPER
        if not source.is_beside(block[0]):
            deeper = source.indent(block[0])
        before = None
        for statement in block:
            if source.is_beside(statement):
                start = (
                    source.end(before) if before is not None else _behind_colon(source, statement)
                )
                yield Piece(start, source.start(statement), f"\n{deeper}")
            yield from _apart(source, statement, deeper)
            before = statement


def _behind_colon(source: Source, statement: ast.stmt) -> int:
    """Where what stands before the first statement of a block in its line ends."""
    line = source.text[source.line_start(statement) : source.start(statement)]
    return source.line_start(statement) + len(line.rstrip())


def _blocks(owner: ast.AST, indent: str) -> Iterator[tuple[str, list[ast.stmt]]]:
    """The blocks of a statement, each with what its header is indented by."""
    for part in ("body", "orelse", "finalbody"):
        block = getattr(owner, part, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield indent, block
    for part, header in (("handlers", indent), ("cases", indent + _DEEPER)):
        for value in getattr(owner, part, ()):
            yield from _blocks(value, header)


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
