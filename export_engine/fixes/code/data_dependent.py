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
    Attempt,
    Diagnosis,
    Edit,
    Exported,
    Failed,
    Fix,
    Kind,
    NoFix,
    Request,
    text_in_effect,
)
from export_engine.diagnose import DataDependent
from export_engine.fixes.code.branches.tensor_questions import (
    listed_for,
)
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees, takes_what_eager_takes
from export_engine.fixes.code.editing.rewrite import NO_STATEMENT, Rewritten
from export_engine.fixes.code.editing.try_edit import (
    edited_file,
    leads_on,
    tried,
    with_edit,
)
from export_engine.fixes.code.ways import (
    Way,
    numbers_kept,
)
from export_engine.fixes.code.ways_on_data import (
    AFTER,
    COND,
    WHERE,
    choosing,
    of_states,
    rewrites,
)
from export_engine.progress import Progress
from export_engine.source import unedited

__all__ = ["offered"]

_OPERATORS = ("torch.cond(", "scan(", "while_loop(", "vmap(")


class _Line(NamedTuple):
    """A diagnosed line in the text that runs, and the one that reads the number it is about."""

    request: Request
    diagnosis: Diagnosis
    text: str
    line: int
    read: tuple[int, int] | None
    """As written, and now."""


def offered(
    attempt: Failed, progress: Callable[[Progress], None] | None = None
) -> Iterator[Fix | NoFix]:
    """Rewrites for a diagnosed attempt, or why a branch has none."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    at, ways = _likeliest_first(
        _Line(request, diagnosis, text, line, _read_line(attempt, place.file))
    )
    known, refused = {text}, ""
    rooms = dict[str, bool]()
    tentative: Fix | None = None
    for way in ways:
        try:
            made = way.rewrite(text, line)
        except Unclear as reason:
            is_there = str(reason) != NO_STATEMENT
            refused = str(reason) if way is COND and is_there else refused
            continue
        if made.text in known:
            continue
        known.add(made.text)
        fix = _tried(at, way, made, rooms, progress)
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
    if refused and diagnosis.kind is Kind.BRANCH_ON_DATA:
        yield NoFix(f"The branch in line {place.line} is not rewritten with torch.cond: {refused}.")


def _likeliest_first(at: _Line) -> tuple[_Line, list[Way]]:
    """What may help, and the line with the one whose number is read, if another is."""
    kind, text, line, read = at.diagnosis.kind, at.text, at.line, at.read
    ways = rewrites(at.diagnosis, text, line, at.request.strict)
    if read is not None and kind is Kind.BRANCH_ON_UNBACKED:
        whole = isinstance(at.diagnosis.facts, DataDependent) and at.diagnosis.facts.whole
        kept = numbers_kept(choosing(text, line), read[1], whole=whole)
        if whole:  # a number that is a size, too, is better left one
            kept = [each._replace(is_tentative=True) for each in kept]
            before = ways.index(COND) if COND in ways else len(ways)
            ways = [*ways[:before], *kept, *ways[before:]]
        else:
            ways = [*ways, *kept] if read[1] == line else [*kept, *ways]
        ways += numbers_kept(of_states([WHERE, AFTER, COND]), read[1], whole=whole)
    listed = listed_for(text, line) if kind is Kind.BRANCH_ON_DATA else None
    if listed is not None:
        ways += numbers_kept([*choosing(text, line), AFTER], listed)
        at = at._replace(read=(listed, listed))
    return at, ways


def _tried(
    at: _Line,
    way: Way,
    made: Rewritten,
    rooms: dict[str, bool],
    progress: Callable[[Progress], None] | None,
) -> Fix | None:
    """A rewrite as a fix, tried; None where it leads nowhere, or may answer otherwise."""
    request, diagnosis = at.request, at.diagnosis
    place = diagnosis.stack[-1]
    edit = Edit(unedited(place.file), at.text, made.text, (made.function,))
    if way.room is not None and not _room_agrees(request, edit, way.room(at.text, at.line), rooms):
        return None
    read = at.read[0] if at.read else 0
    title = way.title.format(line=place.line, function=place.function, read=read)
    if progress:
        progress(Progress(0, 0, title, "fix"))
    found = tried(request, edit)
    if found is None or not leads_on(found, diagnosis, edit):
        return None
    if way.selects and not way.selects(found, edited_file(request, edit)):
        return None
    chooses = diagnosis.kind is Kind.BRANCH_ON_UNBACKED and "torch.cond(" in made.text
    if chooses and not _takes_both_ways(request, edit, found):
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
        leads_to=found if isinstance(found, Exported) else None,
    )


def _read_line(attempt: Failed, file: str) -> tuple[int, int] | None:
    """The line of a file that reads the number that a branch is about: as written, and now.

    In strict mode it may be the branch's own.
    """
    request, diagnosis = attempt.request, attempt.diagnosis
    assert request is not None
    assert diagnosis is not None
    facts = diagnosis.facts
    if not isinstance(facts, DataDependent) or not facts.condition:
        return None
    for each in diagnosis.related:
        place = each.stack[-1]
        if place.file == file:
            return place.line, text_in_effect(request.edits, place.file, place.line)[1]
    own = diagnosis.stack[-1]
    return own.line, text_in_effect(request.edits, own.file, own.line)[1]


def _takes_both_ways(request: Request, edit: Edit, found: Attempt) -> bool:
    """Whether a program takes what eager takes; of an export that failed that is not known."""
    if not isinstance(found, Exported):
        return True
    return takes_what_eager_takes(request, edit, found.program.module())


def _is_tried_at_once(made: str, text: str) -> bool:
    """Whether a text only selects more with torch.where: eager compiles what operators take."""
    more = [made.count(each) > text.count(each) for each in ("torch.where(", *_OPERATORS)]
    return more[0] and not any(more[1:])


def _room_agrees(request: Request, edit: Edit, room: Rewritten, known: dict[str, bool]) -> bool:
    """Whether what is done before a way answers as eager does, on inputs that go either way."""
    if room.text not in known:
        known[room.text] = agrees(request, replace(edit, after=room.text))
    return known[room.text]
