"""Rewrites other than torch.cond: assumed branches, NumPy; and why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from export_engine.attempt import (
    Diagnosis,
    Edit,
    Failed,
    Fix,
    Kind,
    NoFix,
    Request,
    text_in_effect,
)
from export_engine.fixes.assumptions import join_texts
from export_engine.fixes.code.branches.raise_to_check import NO_BRANCH, only_raises, way_taken
from export_engine.fixes.code.branches.state_tests import state_asked
from export_engine.fixes.code.branches.torch_check import add_check
from export_engine.fixes.code.calls.numpy_to_torch import with_torch
from export_engine.fixes.code.editing.statements import is_while
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Rewritten, Source
from export_engine.fixes.code.editing.try_edit import code_fix, runs, with_edit
from export_engine.fixes.code.sizes.size_checks import iter_check_fixes
from export_engine.progress import Progress
from export_engine.source import original_file


def assume_branch_on_data(
    attempt: Failed, progress: Callable[[Progress], None] | None = None
) -> Iterator[Fix | NoFix]:
    """The example's way of a branch on tensor values, assumed for every input."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return
    if diagnosis.kind is Kind.BRANCH_ON_DATA:
        try:
            yield from _suggest_assumptions(request, diagnosis, progress)
        except CannotRewrite as reason:
            if str(reason) == NO_BRANCH:  # but an expression that Python asks
                return
            yield NoFix(f"The branch cannot be assumed here: {reason}.")


_OF_SIZES = (Kind.SHAPES_VIOLATED, Kind.OWN_ERROR, Kind.GRAPH_BREAK, Kind.OUTPUT_FROM_DATA)
"""What NumPy makes of a dynamic size: a plain number, or an error."""
_BRANCHES = (Kind.BRANCH_ON_UNBACKED, Kind.UNBACKED_SIZE)


def suggest_rewrites(
    attempt: Failed, progress: Callable[[Progress], None] | None = None
) -> Iterator[Fix | NoFix]:
    """Rewrites for a diagnosed attempt."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return
    try:
        if diagnosis.kind in _BRANCHES:
            yield from _suggest_decisions(request, diagnosis, progress)
        elif diagnosis.kind is Kind.NUMPY or _gives_numpy_a_size(request, diagnosis):
            yield from _without_numpy(request, diagnosis, progress)
    except CannotRewrite as reason:
        what = "torch._check" if diagnosis.kind in _BRANCHES else "torch"
        yield NoFix(f"It cannot be rewritten with {what} here: {reason}.")


def _gives_numpy_a_size(request: Request, diagnosis: Diagnosis) -> bool:
    """Whether NumPy is called at a line that fails by a size, or that strict mode refuses."""
    if diagnosis.kind not in _OF_SIZES:
        return False
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    written = text.split("\n")[line - 1]
    return any(f"{name}." in written for name in Source(text, line).names_of("numpy"))


def _suggest_decisions(
    request: Request, diagnosis: Diagnosis, progress: Callable[[Progress], None] | None
) -> Iterator[Fix]:
    """One way of a branch assumed; where no statement branches, an op asks, and is answered."""
    try:
        yield from _suggest_assumptions(request, diagnosis, progress)
    except CannotRewrite:
        if diagnosis.kind is not Kind.BRANCH_ON_UNBACKED:
            raise
        yield from iter_check_fixes(request, diagnosis, progress)


def _suggest_assumptions(
    request: Request, diagnosis: Diagnosis, progress: Callable[[Progress], None] | None
) -> Iterator[Fix]:
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    if only_raises(text, line) or is_while(text, line):
        return
    for holds in (True, False):
        rewritten, condition = _assume_branch(diagnosis, text, line, holds)
        edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
        if not runs(with_edit(request, edit)):
            continue  # the example takes the other branch
        if progress:
            progress(Progress(0, 0, f"assuming {condition}", "fix"))
        state = state_asked(request, text, line, rewritten)
        if state:
            asked = join_texts([f"`{other_text}`" for other_text in state])
            why = f"Only {asked} decides it, which no input changes. The program asserts it."
            gives_up = f"With other values in {asked}, the program may raise."
        else:
            why = (
                "The example takes this branch. The program asserts at run time that every input "
                "does."
            )
            gives_up = f"The program rejects inputs for which `{condition}` does not hold."
        title = f"Assume `{condition}`"
        fix = code_fix(request, diagnosis, edit, title=title, why=why, gives_up=gives_up)
        if fix is not None:
            yield replace(fix, lossy=not state)
        return


def _assume_branch(
    diagnosis: Diagnosis, text: str, line: int, holds: bool
) -> tuple[Rewritten, str]:
    """The text with one way of a branch assumed, and the condition; raises CannotRewrite."""
    facts = diagnosis.facts
    if diagnosis.kind is Kind.BRANCH_ON_DATA or not getattr(facts, "condition", "number"):
        return way_taken(text, line, holds, tensor=True)
    try:
        return add_check(text, line, holds)
    except CannotRewrite:
        return way_taken(text, line, holds, tensor=False)


def _without_numpy(
    request: Request, diagnosis: Diagnosis, progress: Callable[[Progress], None] | None
) -> Iterator[Fix]:
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    rewritten: Rewritten = with_torch(text, line)
    edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
    if progress:
        progress(Progress(0, 0, "replacing NumPy with torch", "fix"))
    title = f"Replace NumPy with torch in `{place.function}`"
    why = "torch has the same functions as ops, which the graph can capture."
    fix = code_fix(request, diagnosis, edit, title=title, why=why)
    if fix is not None:
        yield fix
