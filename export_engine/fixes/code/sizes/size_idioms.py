"""Fixes of Python and NumPy around sizes: what turns a dynamic size into a plain number.

`math.sqrt(n)`, `int(n)` and the like ask a size for its number, which fixes it. torch has functions
that keep it symbolic, and that are Python's own for plain numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from export_engine.attempt import (
    Attempt,
    Diagnosis,
    Edit,
    Exported,
    Failed,
    Fix,
    Kind,
    Request,
    text_in_effect,
)
from export_engine.diagnose import DataDependent, diagnose, formats_a_tensor
from export_engine.fixes.code.editing.bounded_edit import (
    beyond_bounds,
    find_bounds_fix,
    with_bounds,
)
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Rewritten
from export_engine.fixes.code.editing.try_edit import (
    further,
    leads_on,
    name_edited_file,
    stacks_of,
    try_edit,
    with_edit,
)
from export_engine.fixes.code.sizes.symbolic_sizes import LENGTHS, symbolic
from export_engine.progress import Progress, Report
from export_engine.source import Location, original_file

_KINDS = (
    Kind.SHAPES_VIOLATED,
    Kind.UNBACKED_SIZE,
    Kind.OUTPUT_FROM_DATA,
    Kind.OWN_ERROR,
    Kind.NUMPY,
    Kind.GRAPH_BREAK,
)
_MOST_ROUNDS = 3


def suggest_symbolic_sizes(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The rewrite of every line of a file at which a size is made a number."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind not in _KINDS:
        return
    if formats_a_tensor(str(attempt.error)):
        return  # a tensor, and not a size, is formatted
    for place in _places(attempt):
        lines = [location.line for location in _places(attempt) if location.file == place.file]
        text, _ = text_in_effect(request.edits, place.file, place.line)
        at = {text_in_effect(request.edits, place.file, line)[1] for line in lines}
        for candidate in _candidates(text, at, request.strict):
            if progress:
                progress(Progress(0, 0, f"keeping sizes symbolic in line {place.line}", "fix"))
            fix = _fix(request, diagnosis, place, text, candidate, progress)
            if fix is not None:
                yield fix
                return


def _candidates(text: str, at: set[int], strict: bool) -> Iterator[tuple[Rewritten, list[str]]]:
    """The rewrites of lines, each with what it replaces.

    The second is for the length of what is not a tensor, which strict mode keeps symbolic.
    """
    texts: set[str] = set()
    for length in LENGTHS[: 1 if strict else None]:
        try:
            pair = symbolic(text, at, length=length)
        except CannotRewrite:
            return
        if pair[0].text not in texts:
            texts.add(pair[0].text)
            yield pair


def _fix(
    request: Request,
    diagnosis: Diagnosis,
    place: Location,
    text: str,
    made: tuple[Rewritten, list[str]],
    progress: Report | None,
) -> Fix | None:
    """A rewrite as a fix, tried; None if it leads to nothing better."""
    edit = Edit(original_file(place.file), text, made[0].text, (made[0].function,))
    edit, attempt = _try_edit(request, edit)
    bounds = find_bounds_fix(attempt, progress)
    goes_on = attempt is not None and leads_on(attempt, diagnosis, edit)
    if bounds is None and not goes_on:
        return None
    if bounds is not None and bounds.narrows and goes_on and _fails_later(attempt, place):
        bounds = None  # what a fix of that line keeps, no bound need reject
    what, asked = "size", "a concrete int"
    if isinstance(diagnosis.facts, DataDependent):
        what, asked = "number", "a data-dependent number"
    verb = "needs" if len(set(made[1])) == 1 else "need"
    fix = Fix(
        kind="code",
        title=f"Keep the {what} in line {place.line} symbolic",
        why=f"{_join_names(made[1])} {verb} {asked}. The rewrite keeps the {what} symbolic.",
        change=partial(with_edit, edit=edit),
        edits=with_edit(request, edit).edits,
        stack=diagnosis.stack,
        leads_to=attempt if isinstance(attempt, Exported) else None,
    )
    if bounds is None:
        return fix
    return beyond_bounds(request, diagnosis, with_bounds(fix, bounds))


def _fails_later(found: Attempt | None, place: Location) -> bool:
    """Whether an attempt fails in another line than it did."""
    stack = diagnose(found).stack if isinstance(found, Failed) else ()
    return bool(stack) and (original_file(stack[-1].file), stack[-1].line) != (
        place.file,
        place.line,
    )


def _try_edit(request: Request, edit: Edit) -> tuple[Edit, Attempt | None]:
    """The attempt with an edit, and with those of the lines at which a size is a number then."""
    attempt = try_edit(request, edit)
    for _ in range(_MOST_ROUNDS):
        if not isinstance(attempt, Failed):
            break
        explained = replace(attempt, diagnosis=diagnose(attempt))
        file = name_edited_file(request, edit)
        lines = {place.line for place in _places(explained) if place.file == file}
        try:
            rewritten, _ = symbolic(edit.after, lines)
        except (CannotRewrite, ValueError):
            break
        edit = further(edit, rewritten)
        attempt = try_edit(request, edit)
    return edit, attempt


def _places(attempt: Failed) -> list[Location]:
    return list(dict.fromkeys(stack[-1] for stack in stacks_of(attempt) if stack))


def _join_names(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in dict.fromkeys(names))
