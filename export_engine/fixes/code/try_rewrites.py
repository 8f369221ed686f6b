"""Code fixes: rewrites of the function at the failing line, in memory, and tried.

Only sound rewrites: what cannot keep its meaning is refused, with the reason. A rewrite is offered
if the call then exports and agrees with eager, or fails somewhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from export_engine.attempt import (
    Diagnosis,
    Edit,
    Exported,
    Failed,
    Fix,
    NoFix,
    Request,
    text_in_effect,
)
from export_engine.fixes.code.data_dependent_rewrites import (
    rewrites,
)
from export_engine.fixes.code.editing.conditions import CannotRewrite
from export_engine.fixes.code.editing.eager_trials import agrees
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.try_edit import (
    leads_on,
    name_edited_file,
    try_edit,
    with_edit,
)
from export_engine.fixes.code.ways import (
    Way,
)
from export_engine.progress import Progress
from export_engine.source import original_file

__all__ = ["suggest_rewrites"]

_OPERATORS = ("torch.cond(", "scan(", "while_loop(", "vmap(")


class _Line(NamedTuple):
    """A diagnosed line in the text that runs."""

    request: Request
    diagnosis: Diagnosis
    text: str
    line: int


def suggest_rewrites(
    attempt: Failed, progress: Callable[[Progress], None] | None = None
) -> Iterator[Fix | NoFix]:
    """Rewrites for a diagnosed attempt, or why a branch has none."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    at = _Line(request, diagnosis, text, line)
    texts = {text}
    rooms = dict[str, bool]()
    tentative: Fix | None = None
    for way in _likeliest_first(at):
        try:
            rewritten = way.rewrite(text, line)
        except CannotRewrite:
            continue
        if rewritten.text in texts:
            continue
        texts.add(rewritten.text)
        fix = _try_rewrite(at, way, rewritten, rooms, progress)
        if fix is None:
            continue
        if fix.leads_to is None and way.is_tentative:
            tentative = tentative or fix
            continue
        yield fix if tentative is None or fix.leads_to is not None else tentative
        return
    if tentative is not None:
        yield tentative
        return


def _likeliest_first(at: _Line) -> list[Way]:
    """What may help at a line."""
    return rewrites(at.diagnosis)


def _try_rewrite(
    at: _Line,
    way: Way,
    made: Rewritten,
    rooms: dict[str, bool],
    progress: Callable[[Progress], None] | None,
) -> Fix | None:
    """A rewrite as a fix, tried; None where it leads nowhere, or may answer otherwise."""
    request, diagnosis = at.request, at.diagnosis
    place = diagnosis.stack[-1]
    edit = Edit(original_file(place.file), at.text, made.text, (made.function,))
    if way.room is not None and not _room_agrees(request, edit, way.room(at.text, at.line), rooms):
        return None
    title = way.title.format(line=place.line, function=place.function)
    if progress:
        progress(Progress(0, 0, title, "fix"))
    attempt = try_edit(request, edit)
    if attempt is None or not leads_on(attempt, diagnosis, edit):
        return None
    if way.selects and not way.selects(attempt, name_edited_file(request, edit)):
        return None
    if _is_tried_at_once(made.text, at.text) and not agrees(request, edit):
        return None
    return Fix(
        kind="code",
        title=title,
        why=way.why,
        gives_up=way.gives_up,
        change=partial(with_edit, edit=edit),
        edits=with_edit(request, edit).edits,
        stack=diagnosis.stack,
        leads_to=attempt if isinstance(attempt, Exported) else None,
    )


def _is_tried_at_once(made: str, text: str) -> bool:
    """Whether a text only selects more with torch.where: eager compiles what operators take."""
    more = [
        made.count(other_text) > text.count(other_text)
        for other_text in ("torch.where(", *_OPERATORS)
    ]
    return more[0] and not any(more[1:])


def _room_agrees(request: Request, edit: Edit, room: Rewritten, known: dict[str, bool]) -> bool:
    """Whether what is done before a way answers as eager does, on inputs that go either way."""
    if room.text not in known:
        known[room.text] = agrees(request, replace(edit, after=room.text))
    return known[room.text]
