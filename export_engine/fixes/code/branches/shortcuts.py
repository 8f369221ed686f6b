"""Fixes of shortcuts: a branch on data that only turns something off, which changes no output.

`if mask.all(): mask = None` saves work where the mask masks nothing. Without it the program answers
the same, which is tried in eager on inputs that take the shortcut.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from export_engine.attempt import Edit, Failed, Fix, Kind
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import REACHED, agrees
from export_engine.fixes.code.editing.failing_text import failing_text
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans, with_way
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.progress import Progress, Report
from export_engine.source import unedited

_KINDS = (Kind.BRANCH_ON_DATA, Kind.BRANCH_ON_UNBACKED)
_FEWEST = 3
"""Inputs that take the shortcut: on one of them, both ways may agree by chance."""


class _Skipped(NamedTuple):
    made: Rewritten
    probe: str
    """The text with an error where the shortcut is taken."""


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The branch at a diagnosed line without its shortcut."""
    failing = failing_text(attempt, _KINDS)
    if failing is None:
        return
    request, diagnosis, place, text, line = failing
    try:
        found = without_shortcut(text, line)
    except Unclear:
        return
    title = f"Skip the shortcut in line {place.line}"
    if progress:
        progress(Progress(0, 0, f"{title.lower()}, in eager", "fix"))
    functions = (found.made.function,)
    edit = Edit(unedited(place.file), text, found.made.text, functions)
    probes = (Edit(edit.file, text, found.probe, functions),)
    if not agrees(request, edit, probes, fewest=_FEWEST):
        return
    why = (
        "The branch only turns something off, and the outputs are the same without it. "
        "Compared with eager on inputs that take it, too."
    )
    gives_up = "The program does the work that eager saves by the shortcut."
    fix = code_fix(request, diagnosis, edit, title=title, why=why, gives_up=gives_up)
    if fix is not None:
        yield fix


def without_shortcut(text: str, line: int) -> _Skipped:
    """The text with the branch at a line always taking the way that is not a shortcut.

    Raises:
        Unclear: there is no branch at that line, or not just one of its ways sets names to
            constants.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if isinstance(node, ast.If) and spans(node.test, line):
            return _of_statement(source, node)
        if isinstance(node, ast.IfExp) and spans(node.test, line):
            return _of_expression(source, node)
    raise Unclear("there is no branch at that line")


def _of_expression(source: Source, choice: ast.IfExp) -> _Skipped:
    short = [each for each in (choice.body, choice.orelse) if _is_off(each)]
    if len(short) != 1:
        raise Unclear("not just one of the values is a constant that turns something off")
    (kept,) = {choice.body, choice.orelse} - set(short)
    start, end = source.start(choice), source.end(choice)
    raised = f"(_ for _ in ()).throw(LookupError({REACHED!r}))"
    probe = Piece(source.start(short[0]), source.end(short[0]), raised)
    made = source.changed([Piece(start, end, f"({source.of(kept)})")])
    return _Skipped(made, source.changed([probe]).text)


def _of_statement(source: Source, branch: ast.If) -> _Skipped:
    short = [each for each in (branch.body, branch.orelse) if _turns_off(each)]
    if len(short) != 1 or (short[0] is branch.orelse and not branch.orelse):
        raise Unclear("not just one of the ways sets names to constants")
    kept = branch.orelse if short[0] is branch.body else branch.body
    first, last = short[0][0], short[0][-1]
    raised = f"raise LookupError({REACHED!r})"
    probe = Piece(source.start(first), source.end(last), raised)
    return _Skipped(source.changed([with_way(source, branch, kept)]), source.changed([probe]).text)


def _turns_off(block: list[ast.stmt]) -> bool:
    return bool(block) and all(
        isinstance(each, ast.Assign)
        and _is_off(each.value)
        and all(isinstance(target, ast.Name) for target in each.targets)
        for each in block
    )


def _is_off(value: ast.expr) -> bool:
    """None, True or False; a number is to compute with, and only may be the same."""
    return isinstance(value, ast.Constant) and (value.value is None or type(value.value) is bool)
