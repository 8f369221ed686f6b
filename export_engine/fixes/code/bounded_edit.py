"""A code fix that exports only within bounds of sizes: both as one fix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from export_engine.attempt import Failed, Fix, Kind
from export_engine.diagnose import SizesViolated, diagnose
from export_engine.fixes import assumptions, export_options, shapes
from export_engine.progress import Report


def bounded(found: object, progress: Report | None) -> Fix | None:
    """The bounds or assumptions with which an edited model exports, if it needs any.

    Options of the export, where those reject what the model takes, and these do not.
    """
    if not isinstance(found, Failed):
        return None
    diagnosis = diagnose(found)
    explained = replace(found, diagnosis=diagnosis)
    if diagnosis.kind is Kind.UNBACKED_SIZE:
        return _leading(assumptions.offered(explained, progress))
    if diagnosis.kind is not Kind.SHAPES_VIOLATED:
        return None
    facts = diagnosis.facts
    if isinstance(facts, SizesViolated) and any(each.lossy for each in facts.problems):
        return None  # known before an export: a size is fixed
    bounds = _leading(shapes.offered(explained, progress))
    if bounds is None or not bounds.narrows:
        return bounds
    return _leading(export_options.keeping_all_sizes(explained, progress)) or bounds


def _leading(offered: Iterable[Fix]) -> Fix | None:
    """The first lossless fix that is known to lead to a program."""
    return next((each for each in offered if each.leads_to is not None and not each.lossy), None)


def with_bounds(edit: Fix, bounds: Fix) -> Fix:
    """Both as one fix, which gives up what either does."""
    return replace(
        edit,
        title=f"{edit.title}, and {bounds.title[:1].lower()}{bounds.title[1:]}",
        change=lambda request: bounds.change(edit.change(request)),
        narrows=edit.narrows or bounds.narrows,
        gives_up=" ".join(
            f"{each.rstrip('.')}." for each in (edit.gives_up, bounds.gives_up) if each
        ),
        before=bounds.before,
        after=bounds.after,
        leads_to=bounds.leads_to,
    )
