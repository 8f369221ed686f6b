"""A code fix that exports only within bounds of sizes: both as one fix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from export_engine.attempt import Attempt, Diagnosis, Edit, Failed, Fix, Kind, NoFix, Request
from export_engine.diagnose import SizesViolated, diagnose
from export_engine.fixes import assumptions, export_options, shapes
from export_engine.fixes.code.editing.try_edit import leads_on, plain_fix
from export_engine.fixes.excluded_calls import allows_any, calls_without
from export_engine.progress import Report
from export_engine.traced_sizes import ShapeViolation


def find_bounds_fix(found: object, progress: Report | None) -> Fix | None:
    """The bounds or assumptions with which an edited model exports, if it needs any.

    Options of the export, where those reject what the model takes, and these do not.
    """
    if not isinstance(found, Failed):
        return None
    diagnosis = diagnose(found)
    explained = replace(found, diagnosis=diagnosis)
    if diagnosis.kind is Kind.UNBACKED_SIZE:
        return _leading(assumptions.suggest_assumptions(explained, progress))
    if diagnosis.kind is not Kind.SHAPES_VIOLATED:
        return None
    facts = diagnosis.facts
    if isinstance(facts, SizesViolated) and any(problem.lossy for problem in facts.problems):
        return None  # known before an export: a size is fixed
    bounds = _leading(shapes.suggest_shapes(explained, progress))
    if bounds is None or not bounds.narrows:
        return bounds
    return _leading(export_options.keeping_all_sizes(explained, progress)) or bounds


def _leading(offered: Iterable[Fix | NoFix]) -> Fix | None:
    """The first lossless fix that is known to lead to a program."""
    fixes = (fix for fix in offered if isinstance(fix, Fix))
    return next((fix for fix in fixes if fix.leads_to is not None and not fix.lossy), None)


def offer_edit(
    attempt: Failed, edit: Edit, found: Attempt | None, progress: Report | None, **fields: Any
) -> Fix | None:
    """The fix of an edit by itself, or with the bounds of sizes that it needs; None if it fails.

    Args:
        attempt: a diagnosed failure.
        edit: what the fix changes.
        found: the attempt with it; None where it does not fit the code.
        progress: called before each further export.
        fields: of the fix.
    """
    request, diagnosis = attempt.request, attempt.diagnosis
    if found is None or request is None or diagnosis is None:
        return None
    fix = replace(plain_fix(request, diagnosis, edit, found, title="", why=""), **fields)
    if leads_on(found, diagnosis, edit):
        return fix
    bounds = find_bounds_fix(found, progress)
    return beyond_bounds(request, diagnosis, with_bounds(fix, bounds)) if bounds else None


def beyond_bounds(request: Request, diagnosis: Diagnosis, edit: Fix) -> Fix:
    """A fix of code and bounds that says whether it takes sizes that bounds alone would reject.

    Args:
        request: without the fix.
        diagnosis: of its failure.
        edit: with its bounds.
    """
    facts = diagnosis.facts
    problems = facts.problems if isinstance(facts, SizesViolated) else ()
    others = (call for problem in problems for _, call in calls_without(request, _further(problem)))
    return replace(edit, beyond_bounds=allows_any(edit.change(request), others))


def _further(problem: ShapeViolation) -> ShapeViolation:
    """A problem with multiples of the example's size, too, where an upper bound excludes them."""
    most, example = max(problem.excluded, default=0), problem.dims[0].example
    far = [size for size in range(2 * example, 5 * example, example) if example < most < size]
    return replace(problem, excluded=(*problem.excluded, *far))


def both_titles(first: str, second: str) -> str:
    """The titles of two fixes as one of both: `Do this, do that, and bound n`."""
    *done, last = first.split(_AND)
    more = f"{second[:1].lower()}{second[1:]}".split(_AND)
    parts = [*done, last, *more]
    return f"{', '.join(parts[:-1])}{_AND}{parts[-1]}"


_AND = ", and "


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
