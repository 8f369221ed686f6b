"""Failures that torch itself names, and that no other family knows more of."""

from __future__ import annotations

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind
from export_engine.diagnose.errors import find, message
from export_engine.diagnose.failing_line import chain, failing_place
from export_engine.diagnose.plain_breaks import is_plain
from export_engine.diagnose.torch_messages import plain
from export_engine.diagnose.value_origin import traced_last
from export_engine.shapes import symbol_names

_KINDS = {
    "DYNAMIC_CONTROL_FLOW": Kind.BRANCH_ON_DATA,
    "ANTI_PATTERN": Kind.GRAPH_BREAK,
    "STANDARD_LIBRARY": Kind.GRAPH_BREAK,
    "CONSTRAINT_VIOLATION": Kind.SHAPES_VIOLATED,
    "DYNAMIC_DIM": Kind.SHAPES_VIOLATED,
    "INVALID_INPUT": Kind.SHAPES_MISMATCH,
    "INVALID_OUTPUT": Kind.UNKNOWN_OUTPUT_TYPE,
    "UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS": Kind.SHAPES_VIOLATED,
}
"""Kinds by the name of torch's `UserErrorType`."""


def diagnose_torch_named(attempt: Failed) -> Diagnosis | None:
    """Diagnoses an error of a type that torch gives, and ops that no program may hold."""
    violation = find(attempt.error, "SpecViolationError")
    kind = Kind.OPERATOR_FAILED if violation is not None else _kind(attempt)
    if kind is None:
        return None
    said = plain(message(violation or attempt.error), symbol_names(attempt))
    if not said or not is_plain(said):
        return None
    place = failing_place(attempt.error)
    return Diagnosis(
        kind=kind,
        sentence=rules.OperatorFailed.TORCH_NAMED(reason=said),
        why=rules.OperatorFailed.TORCH_NAMED_WHY(),
        stack=place.stack,
        span=place.span,
        related=() if place.stack else traced_last(attempt),
    )


def diagnose_unplaced_number(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a number from data that torch finds nowhere in the result of its op."""
    if find(attempt.error, "PendingUnbackedSymbolNotFound") is None:
        return None
    place = failing_place(attempt.error)
    said = f"`{place.text}`" if place.text else "An op of this call"
    return Diagnosis(
        kind=Kind.OPERATOR_FAILED,
        sentence=rules.OperatorFailed.UNPLACED_NUMBER(code=said),
        why=rules.OperatorFailed.UNPLACED_NUMBER_WHY(),
        stack=place.stack,
        span=place.span,
        related=() if place.stack else traced_last(attempt),
    )


def _kind(attempt: Failed) -> Kind | None:
    for error in chain(attempt.error):
        name = getattr(getattr(error, "error_type", None), "name", "")
        if name in _KINDS:
            return _KINDS[name]
    return None
