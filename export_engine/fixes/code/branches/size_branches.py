"""A branch on a size of which one way is right for every size: `if missing: x = pad(x, missing)`.

Padding by 0 changes nothing, and a table interpolated to its own size is itself. Then the branch is
a shortcut, and without it nothing depends on the size. That both ways give the same is compared
with eager, at sizes where the condition holds and at ones where it does not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import islice
from typing import NamedTuple

from export_engine.attempt import (
    Attempt,
    Edit,
    Exported,
    Failed,
    Fix,
    Request,
    line_before,
    text_in_effect,
)
from export_engine.diagnose import SizesViolated, UnbackedSize, diagnose, is_unrolled
from export_engine.fixes.code.branches.take_branch import (
    crop_always,
    missing_to_multiple,
    one_way,
    without_early_return,
)
from export_engine.fixes.code.calls.copied_slices import copy_in_branches, copy_slices
from export_engine.fixes.code.editing.eager_trials import agrees_at
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Rewritten
from export_engine.fixes.code.editing.try_edit import (
    both_titles,
    find_bounds_fix,
    further,
    leads_on,
    make_fix,
    name_edited_file,
    try_edit,
    with_bounds,
    with_edit,
)
from export_engine.fixes.excluded_calls import (
    allows_any,
    as_failure,
    calls_without,
    iter_excluded_calls,
)
from export_engine.fixes.rewrite.rewriting import rewrite as rewrite_control_flow
from export_engine.fixes.try_fixes import list_problems, read_failure
from export_engine.progress import Progress, Report
from export_engine.source import Location, code_of, original_file
from export_engine.traced_sizes import ShapeViolation, assumable

_MOST_SIZES = 3
_MOST_PLACES = 4
"""Places that are rewritten with a branch."""


def suggest_size_branch(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The way of a branch on a requested size that is right for every size that was compared."""
    request, diagnosis = attempt.request, attempt.diagnosis
    facts = diagnosis.facts if diagnosis else None
    if request is None or diagnosis is None:
        return
    asked = _find_asking_lines(request, facts) if isinstance(facts, SizesViolated) else []
    if isinstance(facts, UnbackedSize) and diagnosis.stack:
        asked = [_find_asking_line(attempt, request, facts, diagnosis.stack[-1])]
    for branch in asked:
        line, file = branch.place.line, branch.place.file
        text, at = text_in_effect(request.edits, file, line)
        texts: set[str] = set()
        narrower: Fix | None = None
        for way in _WAYS if branch.others else ():
            title = way.title.format(line=line)
            if progress:
                progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}", "fix"))
            try:
                if way.rewrite is None:
                    edit = rewrite_control_flow(request, original_file(file), text, at).edit
                else:
                    rewritten = way.rewrite(text, at)
                    edit = Edit(original_file(file), text, rewritten.text, (rewritten.function,))
            except CannotRewrite:
                continue
            if edit.after in texts:
                continue
            texts.add(edit.after)
            fix = _try_branch(attempt, edit, branch, title, progress)
            if fix is None:
                continue
            title = fix.title
            if way.rewrite is copy_slices:
                title = title.replace(_SLICE, "copy another slice")
            beyond = fix.narrows and way.rewrite is not None  # else it may need more than bounds do
            fix = replace(fix, title=title, why=way.why, beyond_bounds=beyond)
            if way.bounded or not (fix.after and fix.narrows):
                yield fix
                return
            narrower = narrower or fix
        if narrower is not None:
            yield narrower
            return


_SLICE = "copy a slice by index"


class _Branch(NamedTuple):
    """A line that asks for sizes."""

    place: Location
    others: list[Request]
    """Calls at sizes for which its condition is the other way round."""
    texts: frozenset[str] = frozenset()
    """What it requires of Dims."""


def _find_asking_lines(request: Request, facts: SizesViolated) -> list[_Branch]:
    """The lines that ask for a size, the first file's."""
    groups: dict[int, list[ShapeViolation]] = {}
    for problem in facts.problems:
        if problem.stack and problem.excluded and not is_unrolled(problem.stack):
            groups.setdefault(problem.stack[-1].line, []).append(problem)
    return [
        _Branch(
            problems[0].stack[-1],
            [call for p in problems for _, call in islice(calls_without(request, p), _MOST_SIZES)],
            frozenset(other_problem.text for other_problem in problems),
        )
        for problems in groups.values()
    ]


def _find_asking_line(
    attempt: Failed, request: Request, facts: UnbackedSize, place: Location
) -> _Branch:
    """The line that asks for a size of a ShapesSpec."""
    shapes = request.shapes
    calls = [
        call.request
        for relation in assumable(attempt, facts.asked)
        for call in (iter_excluded_calls(request, shapes, relation) if shapes is not None else ())
    ]
    return _Branch(place, calls)


def _try_branch(
    attempt: Failed, edit: Edit, asked: _Branch, title: str, progress: Report | None
) -> Fix | None:
    """A way of a branch, once it was tried, with what has to be done beside it."""
    request, diagnosis = read_failure(attempt)
    if not agrees_at(request, edit, asked.others):
        return None
    edit, result, more = _with_more(request, edit, asked)
    bounds = find_bounds_fix(result, progress)
    if bounds is not None and bounds.narrows and _next_branch(result, request, edit):
        bounds = None  # what a fix of that branch keeps, no bound need reject
    if bounds is not None:
        if not allows_any(bounds.apply(request), asked.others):
            return None  # no more than bounds alone
    else:
        if (
            result is None
            or not leads_on(result, diagnosis, edit)
            or _find_remaining(result, asked)
        ):
            return None
        if isinstance(result, Exported) and result.verdict != "agrees":
            return None
    title = reduce(both_titles, more, title)
    fix = make_fix(request, edit, result, title=title, stack=diagnosis.stack)
    return fix if bounds is None else with_bounds(fix, bounds)


def _next_branch(found: Attempt | None, request: Request, edit: Edit) -> bool:
    """Whether an edited model fails at another `if` on a size, below the one that is edited."""
    stack = diagnose(found).stack if isinstance(found, Failed) else ()
    if not stack or stack[-1].file != name_edited_file(request, edit):
        return False
    code = code_of(stack[-1].file)
    statement = code.statement(stack[-1].line) if code is not None else None
    if not isinstance(statement, ast.If):
        return False
    return ast.unparse(statement.test) in edit.before


def _with_more(
    request: Request, edit: Edit, asked: _Branch
) -> tuple[Edit, Attempt | None, list[str]]:
    """The attempt with an edit, and with what then requires the same rewritten, too; what that is.

    What is padded is often cropped behind a second branch on what was missing.
    """
    attempt, done = try_edit(request, edit), list[str]()
    for _ in range(_MOST_PLACES):
        places = [problem.stack[-1] for problem in _left(attempt, asked) if problem.stack]
        here = (place for place in places if original_file(place.file) == edit.file)
        more = next(filter(None, (_rewrite_at(request, edit, e, asked) for e in here)), None)
        if more is None:
            break
        edit = more[0]
        done += [more[1]] if more[1] not in done else []
        attempt = try_edit(request, edit)
    return edit, attempt, done


def _rewrite_at(
    request: Request, edit: Edit, place: Location, asked: _Branch
) -> tuple[Edit, str] | None:
    """An edit with one more place rewritten, and what was done there; None where nothing helps."""
    text, line = text_in_effect(with_edit(request, edit).edits, place.file, place.line)
    for rewrite, done in _MORE:
        try:
            both = further(edit, rewrite(text, line))
        except CannotRewrite:
            continue
        if agrees_at(request, both, asked.others):
            return both, done.format(line=line_before(edit, line))
    return None


def _find_remaining(found: Attempt | None, asked: _Branch) -> list[ShapeViolation]:
    """The same that is required of a size still: a branch that both ways of a program need.

    Of a program that rejects sizes which eager accepts, whatever it requires.
    """
    if isinstance(found, Exported):
        return list(list_problems(as_failure(found)))
    return [problem for problem in list_problems(found) if problem.text in asked.texts]


def _left(found: Attempt | None, asked: _Branch) -> list[ShapeViolation]:
    """What is required of the branch's sizes still, or of two at once, which no Dim can say."""
    if isinstance(found, Exported):
        return _find_remaining(found, asked)
    left = [e for e in list_problems(found) if e.text in asked.texts or e.kind == "tied"]
    return sorted(left, key=lambda each: each.text not in asked.texts)


class _Way(NamedTuple):
    """A rewrite of a branch."""

    title: str
    """With `{line}`."""
    why: str
    rewrite: Callable[[str, int], Rewritten] | None
    """None for that of the whole function, in which both ways are left."""
    bounded: bool = True
    """Whether it comes before others where sizes must be bounded, too."""


_MORE: tuple[tuple[Callable[[str, int], Rewritten], str], ...] = (
    (crop_always, "always crop on line {line}"),
    (missing_to_multiple, "always take the branch on line {line}"),
    (lambda text, line: one_way(text, line, True), "always take the branch on line {line}"),
    (lambda text, line: one_way(text, line, False), "never take the branch on line {line}"),
    (copy_in_branches, _SLICE),
)
"""What may be done beside a way of a branch, and what it is called."""
_COMPARED = "Checked against eager on both sides of the condition."
_WAYS = (
    _Way(
        "Always take the branch on line {line}",
        f"The branch changes nothing. {_COMPARED}",
        lambda text, line: one_way(text, line, True),
    ),
    _Way(
        "Never take the branch on line {line}",
        f"The branch is a shortcut: the other one returns the same result. {_COMPARED}",
        lambda text, line: one_way(text, line, False),
    ),
    _Way(
        "Always take the branch on line {line}, and pad up to a multiple",
        f"A size that is already a multiple gets no padding. {_COMPARED}",
        missing_to_multiple,
    ),
    _Way(
        "Never return early on line {line}, and pad up to a multiple",
        f"A size that is already a multiple gets no padding. {_COMPARED}",
        without_early_return,
    ),
    _Way(
        "Always crop on line {line}",
        f"Without padding, the crop removes nothing. {_COMPARED}",
        crop_always,
    ),
    _Way(
        "Copy the slice on line {line} by index",
        "torch checks whether a slice is the whole tensor; copying by index needs no such "
        "check. The copy takes as much memory as the slice.",
        copy_slices,
        bounded=False,
    ),
    _Way(
        "Rewrite the branch on line {line}",
        "The program contains both branches, and the size at run time selects one.",
        None,
    ),
)
