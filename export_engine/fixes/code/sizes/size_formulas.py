"""Fixes of torch's functions that take no symbolic size: the same from ops that do."""

from __future__ import annotations

from collections.abc import Iterator

from export_engine.attempt import Edit, Failed, Fix, Kind, text_in_effect
from export_engine.fixes.code.editing.bounded_edit import beyond_bounds, bounded, with_bounds
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.failing_text import fixed_places
from export_engine.fixes.code.editing.try_edit import leads_on, plain_fix, tried
from export_engine.fixes.code.sizes.torch_formulas import in_ops
from export_engine.progress import Progress, Report
from export_engine.source import unedited

_KINDS = (Kind.SHAPES_VIOLATED, Kind.UNBACKED_SIZE, Kind.OUTPUT_FROM_DATA, Kind.OPERATOR_FAILED)


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The function at a diagnosed line, computed from other ops."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind not in _KINDS:
        return
    for place in fixed_places(attempt):
        text, line = text_in_effect(request.edits, place.file, place.line)
        try:
            made, called, why = in_ops(text, line)
        except Unclear:
            continue
        title = f"Compute {called} in line {place.line} from other ops"
        if progress:
            progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}", "fix"))
        edit = Edit(unedited(place.file), text, made.text, (made.function,))
        found = tried(request, edit)
        bounds = bounded(found, progress)
        fix = plain_fix(request, diagnosis, edit, found, title=title, why=why)
        if bounds is not None:
            yield beyond_bounds(request, diagnosis, with_bounds(fix, bounds))
            return
        if found is not None and leads_on(found, diagnosis, edit):
            yield fix
            return
