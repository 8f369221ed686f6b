"""Adds an edit to a request, and tests whether it helps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

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
    Request,
    apply_edits,
    combine_edits,
)
from export_engine.defects import log_internal_error
from export_engine.diagnose import SizesViolated, counts_gradients_wrong, diagnose
from export_engine.fixes import dim_names
from export_engine.fixes.code.editing.text_edits import Rewritten
from export_engine.fixes.try_fixes import try_request
from export_engine.source import Location, Stack, original_file
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


def with_edit(request: Request, edit: Edit) -> Request:
    """The request with one more edit of the user's code in effect."""
    return request.with_changes(edits=combine_edits(request.edits, edit))


def further(edit: Edit, made: Rewritten) -> Edit:
    """An edit with what its text has become."""
    functions = tuple(dict.fromkeys([*edit.functions, made.function]))
    return replace(edit, after=made.text, functions=functions)


def name_edited_file(request: Request, edit: Edit) -> str:
    """The name under which the text of one more edit runs, and stands in tracebacks."""
    return with_edit(request, edit).edits[-1].edited_file


def try_edit(request: Request, edit: Edit) -> Attempt | None:
    """The attempt with one more edit; None if it does not fit the code."""
    try:
        return try_request(with_edit(request, edit))
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
    diagnosis = attempt.diagnosis
    assert diagnosis is not None
    facts = diagnosis.facts
    problems = facts.problems if isinstance(facts, SizesViolated) else ()
    return [diagnosis.stack, *(problem.stack for problem in problems if kind in ("", problem.kind))]


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


def code_fix(
    request: Request,
    diagnosis: Diagnosis,
    edit: Edit,
    *,
    title: str,
    why: str,
    gives_up: str = "",
    loses_writes: bool = False,
) -> Fix | None:
    """The fix by an edit, once it was tried; None if it does not lead on.

    Args:
        request: with the edits in effect so far.
        diagnosis: of its failure.
        edit: to be tried.
        title: as of `Fix`, and so are the others.
        why: why it helps.
        gives_up: what is lost by it.
        loses_writes: whether `gives_up` is what eager writes to inputs, so that it may be missing.
    """
    attempt = try_edit(request, edit)
    if attempt is None:
        return None
    agreement = attempt.agreement if isinstance(attempt, Exported) else None
    lost = loses_writes and agreement is not None and agreement.lacks_writes
    if not lost and not leads_on(attempt, diagnosis, edit):
        return None
    fix = plain_fix(request, diagnosis, edit, attempt, title=title, why=why, gives_up=gives_up)
    return replace(fix, lossy=loses_writes)


def plain_fix(
    request: Request,
    diagnosis: Diagnosis,
    edit: Edit,
    found: Attempt | None,
    *,
    title: str,
    why: str,
    gives_up: str = "",
) -> Fix:
    """The fix by an edit that was tried; `found` is what it gave."""
    return Fix(
        kind="code",
        title=title,
        why=why,
        gives_up=gives_up,
        change=partial(with_edit, edit=edit),
        edits=with_edit(request, edit).edits,
        stack=diagnosis.stack,
        leads_to=found if isinstance(found, Exported) else None,
    )


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
