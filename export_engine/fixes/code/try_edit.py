"""Adds an edit to a request, and tests whether it helps, by itself or within bounds of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import torch

from export_engine.attempt import (
    Attempt,
    Diagnosis,
    Edit,
    EditError,
    Exported,
    Failed,
    Fix,
    Kind,
    NoFix,
    Request,
    apply_edits,
)
from export_engine.defects import log_internal_error
from export_engine.diagnose import counts_gradients_wrong, diagnose
from export_engine.fixes import assumptions, dim_names, export_options, shapes
from export_engine.fixes.code.text_edits import CannotRewrite, Rewritten
from export_engine.fixes.try_fixes import (
    both_titles,
    list_problems,
    read_failure,
    tell,
    try_request,
)
from export_engine.in_eager import allows_any, calls_without
from export_engine.source import Location, Stack, original_file
from export_engine.traced_sizes import ShapeViolation
from export_engine.verify import runs_in_eager

_OF_OPERATORS = frozenset(
    {Kind.COND_BRANCHES_DIFFER, Kind.COND_MUTATES, Kind.COND_ALIASES, Kind.COND_SIDE_EFFECT}
)

_ERRORS = frozenset({Kind.OWN_ERROR, Kind.OPERATOR_FAILED})
_OF_LINES = frozenset({Kind.OWN_ERROR, Kind.OPERATOR_FAILED, Kind.GRAPH_BREAK})
"""Kinds that are about the code of a line: where an edit changed it, it is not the user's."""
_MARKS = (
    *("torch.cond(", "torch.where(", "_check(", "_assert_async", "scan(", "while_loop("),
    *("torch.sym_int(", "torch.sym_float(", "torch.sym_sqrt(", ".sym_ite("),
)
"""What is in lines that rewrites make; other lines are the user's, perhaps indented."""


def make_edit(file: str, text: str, rewritten: Rewritten) -> Edit:
    """The edit of a file's text, which a rewrite gave."""
    return Edit(original_file(file), text, rewritten.text, (rewritten.function,))


def further(edit: Edit, made: Rewritten) -> Edit:
    """An edit with what its text has become."""
    functions = tuple(dict.fromkeys([*edit.functions, made.function]))
    return replace(edit, after=made.text, functions=functions)


def name_edited_file(request: Request, edit: Edit) -> str:
    """The file name of one more edit, as in tracebacks."""
    return request.with_edit(edit).edits[-1].edited_file


def try_edit(request: Request, edit: Edit) -> Attempt | None:
    """The attempt with one more edit; None if it does not fit the code."""
    try:
        return try_request(request.with_edit(edit))
    except EditError:
        return None


COSTS_GRADIENTS = "The program is exported under `torch.no_grad()` and must run under it."


def try_without_gradients(request: Request, edit: Edit) -> tuple[Attempt | None, bool]:
    """The attempt with one more edit, and whether it is one without gradients.

    torch's scan fails on integers and bools that it carries or collects beside values with a
    gradient.
    """
    attempt = try_edit(request, edit)
    if not isinstance(attempt, Failed) or not counts_gradients_wrong(str(attempt.error)):
        return attempt, False
    return try_edit(without_gradients(request), edit), True


def without_gradients(request: Request) -> Request:
    """The request, exported while no gradients are recorded."""
    return request.with_changes(within=(*request.within, torch.no_grad))


def stacks_of(attempt: Failed, kind: str = "") -> list[Stack]:
    """The stack of the diagnosis, and those of the problems with sizes, or of one kind of them."""
    _, diagnosis = read_failure(attempt)
    problems = (problem for problem in list_problems(attempt) if kind in ("", problem.kind))
    return [diagnosis.stack, *(problem.stack for problem in problems)]


def find_asking_lines(attempt: Failed) -> list[Location]:
    """The line of the diagnosis, and that of each problem with a size."""
    return list(dict.fromkeys(stack[-1] for stack in stacks_of(attempt) if stack))


def find_fixing_places(attempt: Failed) -> list[Location]:
    """Lines that may fix a size: that of the diagnosis, and of each fixed size."""
    return list(dict.fromkeys(stack[-1] for stack in stacks_of(attempt, "fixed") if stack))


def runs(request: Request) -> bool:
    """Whether the eager model runs on the example with the request's edits."""
    try:
        with apply_edits(request.edits):
            return runs_in_eager(request)
    except EditError as error:
        log_internal_error(error, "running the model with a code fix")
        return False


def rewrite_lines(
    edit: Edit, lines: Iterable[int], rewrite: Callable[[str, int], Rewritten]
) -> tuple[Edit, Rewritten]:
    """An edit with further lines rewritten, and the result of the last one.

    Raises:
        CannotRewrite: it can be at none of them.
    """
    rewritten: Rewritten | None = None
    names: list[str] = []
    reason = CannotRewrite("no line is left to rewrite")
    for line in sorted(lines, reverse=True):  # those before keep their numbers
        try:
            rewritten = rewrite(edit.after, line)
        except CannotRewrite as error:
            reason = error
            continue
        edit = further(edit, rewritten)
        names = [rewritten.what, *names]
    if rewritten is None:
        raise reason
    return edit, rewritten._replace(what=" and ".join(filter(None, dict.fromkeys(names))))


def try_further(
    request: Request, edit: Edit, rewrite: Callable[[str, int], Rewritten] | None
) -> tuple[Edit, Attempt | None]:
    """The attempt with an edit, and with a rewrite of each line at which it fails then."""
    attempt = try_edit(request, edit)
    for _ in range(_MOST_ROUNDS):
        if not isinstance(attempt, Failed) or rewrite is None:
            break
        places = find_asking_lines(replace(attempt, diagnosis=diagnose(attempt)))
        file = name_edited_file(request, edit)
        try:
            lines = {place.line for place in places if place.file == file}
            edit, _ = rewrite_lines(edit, lines, rewrite)
        except CannotRewrite:
            break
        attempt = try_edit(request, edit)
    return edit, attempt


_MOST_ROUNDS = 3


def offer_edit(
    attempt: Failed,
    edit: Edit,
    found: Attempt | None,
    *,
    bounds: Literal["never", "needed", "first"] = "needed",
    **fields: Any,
) -> Fix | None:
    """The fix of an edit by itself, or with the bounds of sizes that it needs; None if it fails.

    Args:
        attempt: a diagnosed failure.
        edit: what the fix changes.
        found: the attempt with it; None where it does not fit the code.
        bounds: whether they are looked for: `first` is also where it leads to another failure.
        fields: of the fix. Of one that is `lossy`, the program may lack what eager writes.
    """
    request, diagnosis = read_failure(attempt)
    if found is None:
        return None
    fix = make_fix(request, edit, found, stack=diagnosis.stack, **fields)
    agreement = found.agreement if isinstance(found, Exported) else None
    lost = fix.lossy and agreement is not None and agreement.lacks_writes
    goes_on = lost or leads_on(found, diagnosis, edit)
    wanted = bounds == "first" or (bounds == "needed" and not goes_on)
    within = find_bounds_fix(found) if wanted else None
    if within is not None and within.narrows and goes_on and _fails_elsewhere(found, diagnosis):
        within = None  # what a fix of that line keeps, no bound need reject
    if within is None:
        return fix if goes_on else None
    return _beyond_bounds(attempt, with_bounds(fix, within))


def try_and_offer(attempt: Failed, edit: Edit, title: str, **fields: Any) -> Fix | None:
    """The fix of an edit, tried, as `offer_edit`; says what is tried."""
    tell(title)
    return offer_edit(
        attempt, edit, try_edit(read_failure(attempt)[0], edit), title=title, **fields
    )


def make_fix(request: Request, edit: Edit, found: Attempt | None, **fields: Any) -> Fix:
    """The fix that an edit is, with what it gave when it was tried, and further fields of `Fix`."""
    exported = found if isinstance(found, Exported) else None
    more: dict[str, Any] = {"change": partial(Request.with_edit, edit=edit), **fields}
    return Fix(kind="code", edits=request.with_edit(edit).edits, leads_to=exported, **more)


def _fails_elsewhere(found: Attempt, before: Diagnosis) -> bool:
    """Whether an attempt fails in another line than it did."""
    stacks = diagnose(found).stack if isinstance(found, Failed) else (), before.stack
    now, then = ([(original_file(p.file), p.line) for p in stack[-1:]] for stack in stacks)
    return bool(now) and now != then


def leads_on(found: Attempt, diagnosis: Diagnosis, edit: Edit | None = None) -> bool:
    """Whether the program agrees with eager, or fails at a later line of the user's.

    Args:
        found: the attempt with a fix.
        diagnosis: of the failure before.
        edit: of a code fix. A failure at a line that it made does not count.
    """
    if isinstance(found, Exported):
        return found.verdict != "differs"
    assert isinstance(found, Failed)
    now = diagnose(found)
    if edit is not None and now.kind in _OF_OPERATORS - {diagnosis.kind}:
        return False
    if edit is not None and _breaks_in_operator(now, diagnosis, found.request):
        return False
    if edit is not None and _is_made_by(now, edit):
        # The user's code in it may only lack that another input's size varies too.
        return any(dim_names.suggest_couplings(replace(found, diagnosis=now)))
    if edit is not None and now.kind in _ERRORS and found.request and not runs(found.request):
        return False  # of the edited code's own making
    return now.known and (now.kind, now.sentence) != (diagnosis.kind, diagnosis.sentence)


def _breaks_in_operator(now: Diagnosis, before: Diagnosis, request: Request | None) -> bool:
    """Whether strict mode stops in a function that an edit gave an operator, such as torch.cond.

    In non-strict mode it traces nothing else.
    """
    strict = request is None or request.strict
    return now.kind is Kind.GRAPH_BREAK and before.kind is not now.kind and not strict


def _is_made_by(diagnosis: Diagnosis, edit: Edit) -> bool:
    """Whether a failure is at a line that an edit made, and that the user never wrote."""
    if not diagnosis.stack or original_file(diagnosis.stack[-1].file) != edit.file:
        return False
    place = diagnosis.stack[-1]
    if place.file == edit.file:
        return False
    lines = edit.after.splitlines()
    line = lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""
    texts = {text.strip() for text in edit.before.splitlines()}
    given_back = line.startswith("return ") and line.endswith(".clone()")  # by a branch of a cond
    computed = line.removeprefix("return ").removesuffix(".clone()")
    if given_back and not computed.isidentifier():
        line = f"return {computed}"
    if diagnosis.kind in _OF_LINES and line not in texts:
        return True
    return line not in texts and (given_back or any(mark in line for mark in _MARKS))


def find_bounds_fix(found: object) -> Fix | None:
    """The bounds or assumptions with which an edited model exports, if it needs any.

    Options of the export, where those reject what the model takes, and these do not.
    """
    if not isinstance(found, Failed):
        return None
    diagnosis = diagnose(found)
    explained = replace(found, diagnosis=diagnosis)
    if diagnosis.kind is Kind.UNBACKED_SIZE:
        return _leading(assumptions.suggest_assumptions(explained))
    if diagnosis.kind is not Kind.SHAPES_VIOLATED:
        return None
    if any(problem.lossy for problem in list_problems(explained)):
        return None  # known before an export: a size is fixed
    bounds = _leading(shapes.suggest_shapes(explained))
    if bounds is None or not bounds.narrows:
        return bounds
    return _leading(export_options.keeping_all_sizes(explained)) or bounds


def _leading(offered: Iterable[Fix | NoFix]) -> Fix | None:
    """The first lossless fix that is known to lead to a program."""
    fixes = (fix for fix in offered if isinstance(fix, Fix))
    return next((fix for fix in fixes if fix.leads_to is not None and not fix.lossy), None)


def _beyond_bounds(attempt: Failed, edit: Fix) -> Fix:
    """A fix of code and bounds that says whether it takes sizes that bounds alone would reject."""
    request, _ = read_failure(attempt)
    further = map(_with_multiples, list_problems(attempt))
    others = (call for problem in further for _, call in calls_without(request, problem))
    return replace(edit, beyond_bounds=allows_any(edit.change(request), others))


def _with_multiples(problem: ShapeViolation) -> ShapeViolation:
    """A problem that also has multiples of the example's size, if an upper bound excludes them."""
    most, example = max(problem.excluded, default=0), problem.dims[0].example
    far = [size for size in range(2 * example, 5 * example, example) if example < most < size]
    return replace(problem, excluded=(*problem.excluded, *far))


def with_bounds(edit: Fix, bounds: Fix) -> Fix:
    """Both as one fix, which gives up what either does."""
    return replace(
        edit,
        title=both_titles(edit.title, bounds.title),
        change=lambda request: bounds.change(edit.change(request)),
        narrows=edit.narrows or bounds.narrows,
        gives_up=" ".join(
            f"{text.rstrip('.')}." for text in (edit.gives_up, bounds.gives_up) if text
        ),
        before=bounds.before,
        after=bounds.after,
        leads_to=bounds.leads_to,
    )
