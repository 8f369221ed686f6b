"""Adds an edit to a request, and tests whether it helps."""

from __future__ import annotations

from export_engine.attempt import (
    Attempt,
    Diagnosis,
    Edit,
    EditError,
    Exported,
    Failed,
    Request,
    combined,
)
from export_engine.diagnose import diagnose
from export_engine.fixes.try_fixes import try_request


def with_edit(request: Request, edit: Edit) -> Request:
    """The request with one more edit of the user's code in effect."""
    return request.with_changes(edits=combined(request.edits, edit))


def tried(request: Request, edit: Edit) -> Attempt | None:
    """The attempt with one more edit; None if it does not fit the code."""
    try:
        return try_request(with_edit(request, edit))
    except EditError:
        return None


def leads_on(found: Attempt, diagnosis: Diagnosis) -> bool:
    """Whether the program agrees with eager, or fails at a later line."""
    if isinstance(found, Exported):
        return found.agreement is None or found.agreement.verdict != "differs"
    assert isinstance(found, Failed)
    now = diagnose(found)
    return now.known and (now.kind, now.sentence) != (diagnosis.kind, diagnosis.sentence)
