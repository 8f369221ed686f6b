"""Code fixes: rewrites of the function at the failing line, in memory, and tried.

Only sound rewrites: what cannot keep its meaning is refused, with the reason. A rewrite is offered
if the call then exports and agrees with eager, or fails somewhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from export_engine.attempt import (
    Edit,
    Exported,
    Failed,
    Fix,
    Kind,
    Request,
    text_in_effect,
    unedited,
)
from export_engine.fixes.code.conditions import Unclear
from export_engine.fixes.code.rewrite import (
    Rewritten,
    branch_to_cond,
    checked_at_run_time,
    without_bool,
    write_in_the_open,
)
from export_engine.fixes.code.try_edit import leads_on, tried, with_edit
from export_engine.progress import Progress
from export_engine.source import Location

__all__ = ["offered"]

_REWRITES: dict[Kind, list[tuple[str, str, Callable[[str, int], Rewritten]]]] = {}
for _kind in (Kind.BRANCH_ON_DATA, Kind.BRANCH_ON_UNBACKED):
    _REWRITES[_kind] = [
        (
            "Rewrite the branch in line {line} with torch.cond",
            "torch.cond puts both branches into the program, and the predicate selects one at "
            "run time.",
            branch_to_cond,
        ),
        (
            "Keep the flag in line {line} a tensor",
            "A flag that stays a tensor is evaluated at run time.",
            without_bool,
        ),
    ]
_REWRITES[Kind.UNBACKED_SIZE] = _REWRITES[Kind.BRANCH_ON_UNBACKED][:1]
_REWRITES[Kind.ASSERT_ON_DATA] = [
    (
        "Make the assert in line {line} a runtime assertion",
        "The check becomes an op of the program.",
        checked_at_run_time,
    )
]

_REWRITES[Kind.DATA_WRITE] = [
    (
        "Write through detach() in line {line}",
        "Like `.data`, `detach()` shares memory and records no gradient; unlike it, tracing sees "
        "the write.",
        write_in_the_open,
    )
]


def offered(attempt: Failed, progress: Callable[[Progress], None] | None = None) -> Iterator[Fix]:
    """Rewrites for a diagnosed attempt."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return
    place = diagnosis.stack[-1]
    for title, why, rewrite in _REWRITES.get(diagnosis.kind, ()):
        try:
            edit = _edit(request, place, rewrite)
        except Unclear:
            continue
        if progress:
            progress(Progress(0, 0, title.format(line=place.line), "fix"))
        found = tried(request, edit)
        if found is None or not leads_on(found, diagnosis):
            continue
        yield Fix(
            kind="code",
            title=title.format(line=place.line),
            why=why,
            change=partial(with_edit, edit=edit),
            edits=with_edit(request, edit).edits,
            stack=diagnosis.stack,
            leads_to=found if isinstance(found, Exported) else None,
        )
        return


def _edit(request: Request, place: Location, rewrite: Callable[[str, int], Rewritten]) -> Edit:
    """A rewrite of the current text, as one edit of the original file."""
    text, line = text_in_effect(request.edits, place.file, place.line)
    made = rewrite(text, line)
    return Edit(unedited(place.file), text, made.text, (made.function,))
