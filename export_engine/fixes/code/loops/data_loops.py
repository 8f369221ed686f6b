"""Fixes of loops over data: the experts of a mixture, masks that may select nothing, counts."""

from __future__ import annotations

from collections.abc import Iterator

from export_engine.attempt import (
    Edit,
    Failed,
    Fix,
    Kind,
    NoFix,
)
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees
from export_engine.fixes.code.editing.failing_text import failing_text
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.fixes.code.loops.element_uses import Way
from export_engine.fixes.code.loops.every_iteration import Unskipped, unskipped
from export_engine.progress import Progress, Report
from export_engine.source import unedited

_KINDS = (
    Kind.LOOP_ON_DATA,
    Kind.BRANCH_ON_DATA,
    Kind.BRANCH_ON_UNBACKED,
    Kind.OUTPUT_FROM_DATA,
    Kind.NUMPY,
    Kind.GRAPH_BREAK,
)
_WHY = (
    "Where eager skips an iteration nothing is selected, so it runs on empty tensors and writes "
    "nothing. Compared with eager, also on inputs that skip it."
)
_COUNTS = "The number of counts is fixed, so that the loop over them is, too."
_COSTS = "Every iteration runs, including those that eager skips."


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix | NoFix]:
    """The loop, or the test, at a diagnosed line with every iteration run; or why it is not."""
    failing = failing_text(attempt, _KINDS)
    if failing is None:
        return
    request, diagnosis, place, text, line = failing
    known: set[str] = set()
    for way in Way:
        try:
            found = unskipped(text, line, way)
        except Unclear as reason:
            if diagnosis.kind is Kind.LOOP_ON_DATA:
                yield NoFix(f"The loop is not run for every index: {reason}.")
            return
        if found.made.text in known:
            continue
        known.add(found.made.text)
        edit = Edit(unedited(place.file), text, found.made.text, (found.made.function,))
        probes = tuple(Edit(edit.file, text, each, edit.functions) for each in found.probes)
        if progress:
            progress(Progress(0, 0, f"{found.title.lower()}, in eager", "fix"))
        if not agrees(request, edit, probes):
            continue
        gives_up = _COSTS if found.probes else ""
        fix = code_fix(
            request, diagnosis, edit, title=found.title, why=_why(found), gives_up=gives_up
        )
        if fix is not None:
            yield fix
            return


def _why(found: Unskipped) -> str:
    return _WHY if found.probes else _COUNTS
