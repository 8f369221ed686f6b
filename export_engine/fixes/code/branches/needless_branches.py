"""A branch on data of which one way is right for all data: `if longest < n: x = x[:, :longest]`.

A slice beyond the end of a tensor is all of it. Then the branch only saves work, and without it the
program answers the same, which is tried in eager on inputs that go either way, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from export_engine.attempt import Edit, Failed, Fix, Kind
from export_engine.fixes.code.branches.needless_forms import does_nothing_else
from export_engine.fixes.code.branches.one_way import one_way
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import REACHED, agrees
from export_engine.fixes.code.editing.failing_text import failing_text
from export_engine.fixes.code.editing.text_edits import Piece, Source, branch_at
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.progress import Progress, Report
from export_engine.source import unedited

_KINDS = (Kind.BRANCH_ON_DATA, Kind.BRANCH_ON_UNBACKED)
_FEWEST = 4
"""Inputs that go the way that is left out: on one of them, both ways may agree by chance."""
_TITLE = "Always take the branch in line {line}"
_WHY = "Both branches give the same. Compared with eager on inputs that take either."


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The way of the branch at a diagnosed line that is right for all data that were compared."""
    failing = failing_text(attempt, _KINDS)
    if failing is None:
        return
    request, diagnosis, place, text, line = failing
    try:
        if not does_nothing_else(branch_at(Source(text, line), line)):
            return
        made, probe = one_way(text, line, True), left_out(text, line)
    except Unclear:
        return
    title = _TITLE.format(line=place.line)
    if progress:
        progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}, in eager", "fix"))
    functions = (made.function,)
    edit = Edit(unedited(place.file), text, made.text, functions)
    probes = (Edit(edit.file, text, probe, functions),)
    if not agrees(request, edit, probes, fewest=_FEWEST):
        return
    fix = code_fix(request, diagnosis, edit, title=title, why=_WHY)
    if fix is not None:
        yield fix


def left_out(text: str, line: int) -> str:
    """The text with an error where the `if` at a line is not taken.

    Raises:
        Unclear: there is none, or something stands before it in its line.
    """
    source = Source(text, line)
    branch = branch_at(source, line)
    test = f"({source.of(branch.test)})"
    raised = f"raise LookupError({REACHED!r})"
    indent = source.indent(branch)
    at = source.start(branch)
    piece = Piece(at, at, f"if not {test}: {raised}\n{indent}")
    return source.changed([piece]).text
