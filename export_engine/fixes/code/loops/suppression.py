"""Fixes of loops that go on as long as something is left: `while order.numel() > 0`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from export_engine.attempt import Edit, Exported, Failed, Fix, Kind, NoFix, Request
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees
from export_engine.fixes.code.editing.failing_text import failing_text
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.try_edit import leads_on, with_edit
from export_engine.fixes.code.loops.loop_forms import scannable
from export_engine.fixes.code.loops.loop_to_scan import as_scan
from export_engine.fixes.code.loops.no_gradients import (
    COSTS,
    edited_without_gradients,
    tried_in_some_mode,
)
from export_engine.fixes.code.loops.queue_loop import shrinks
from export_engine.fixes.code.loops.shrinking_lists import over_all
from export_engine.progress import Progress, Report
from export_engine.source import unedited

_KINDS = (
    Kind.BRANCH_ON_DATA,
    Kind.BRANCH_ON_UNBACKED,
    Kind.OUTPUT_FROM_DATA,
    Kind.GRAPH_BREAK,
    Kind.LOOP_ON_DATA,
)
_TITLE = "Run the loop around line {line} over all elements, with a mask of those left"
_WHY = (
    "The elements left have another length in each iteration; a mask of them keeps one length. "
    "That the test of an element does not depend on the others was compared with eager."
)
_GIVES_UP = (
    "Every iteration runs, including those that eager skips. The program rejects a length of 0, "
    "and runs only in a backend that has the operator scan."
)
_NO_ELEMENT = "stack expects a non-empty TensorList"
"""Begins the error of `torch.stack([])`."""
_LEFT = (
    "The loop around line {line} is not rewritten: `{name}` has another length in each iteration, "
    "which torch's while_loop and scan do not take{why}."
)


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix | NoFix]:
    """The loop around a diagnosed line for all elements; or why it is left."""
    failing = failing_text(attempt, _KINDS)
    if failing is None:
        return
    request, diagnosis, place, text, line = failing
    name = shrinks(text, line)
    if not name:
        return
    title, said = _TITLE.format(line=place.line), partial(_LEFT.format, line=place.line, name=name)
    try:
        form, probed = over_all(text, line), over_all(text, line, probed=True)
        made = as_scan(*scannable(*form))
    except Unclear as reason:
        yield NoFix(said(why=f"; a mask of what is left does not serve: {reason}"))
        return
    if progress:
        progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}", "fix"))
    file, functions = unedited(place.file), (made.function,)
    if not agrees(request, Edit(file, text, probed.text, functions), rejected=_NO_ELEMENT):
        yield NoFix(said(why="; with a mask of what is left it computes something else"))
        return
    for scan, strict in _tries(text, line, made, request.strict):
        edit = Edit(file, text, scan.text, functions)
        found, quiet = tried_in_some_mode(request.with_changes(strict=strict), edit)
        if found is None or not leads_on(found, diagnosis, edit):
            continue
        yield Fix(
            kind="code",
            title=title if strict == request.strict else f"{title}, and export in strict mode",
            why=_WHY,
            gives_up=f"{_GIVES_UP} {COSTS}" if quiet else _GIVES_UP,
            change=partial(_changed, edit=edit, strict=strict, quiet=quiet),
            edits=with_edit(request, edit).edits,
            stack=diagnosis.stack,
            leads_to=found if isinstance(found, Exported) else None,
        )
        return
    yield NoFix(said(why="; as a scan with a mask of what is left it does not export"))


def _tries(text: str, line: int, made: Rewritten, strict: bool) -> Iterator[tuple[Rewritten, bool]]:
    """The scan, and in which mode; of a length from data that is only known to be above 0."""
    yield made, strict
    with suppress(Unclear):
        yield as_scan(*scannable(*over_all(text, line, checked=True))), True


def _changed(request: Request, edit: Edit, strict: bool, quiet: bool) -> Request:
    made = (edited_without_gradients if quiet else with_edit)(request, edit)
    return made.with_changes(strict=strict)
