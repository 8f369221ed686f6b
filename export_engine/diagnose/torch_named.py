"""Failures that torch itself names, and that no other family knows more of."""

from __future__ import annotations

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind
from export_engine.diagnose.break_messages import is_plain
from export_engine.diagnose.errors import find, message
from export_engine.diagnose.failing_line import chain, failing_place
from export_engine.diagnose.torch_messages import plain
from export_engine.diagnose.value_origin import find_last_traced
from export_engine.traced_sizes import symbol_names

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
    text = plain(message(violation or attempt.error), symbol_names(attempt))
    if not text or not is_plain(text):
        return None
    place = failing_place(attempt.error)
    return Diagnosis(
        kind=kind,
        sentence=rules.OperatorFailed.TORCH_NAMED(reason=text),
        why=rules.OperatorFailed.TORCH_NAMED_WHY(),
        stack=place.stack,
        span=place.span,
        related=() if place.stack else find_last_traced(attempt),
    )


def diagnose_unplaced_number(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a data-dependent number that torch finds nowhere in the result of its op."""
    if find(attempt.error, "PendingUnbackedSymbolNotFound") is None:
        return None
    place = failing_place(attempt.error)
    text = f"`{place.text}`" if place.text else "An op of this call"
    return Diagnosis(
        kind=Kind.OPERATOR_FAILED,
        sentence=rules.OperatorFailed.UNPLACED_NUMBER(code=text),
        why=rules.OperatorFailed.UNPLACED_NUMBER_WHY(),
        stack=place.stack,
        span=place.span,
        related=() if place.stack else find_last_traced(attempt),
    )


def _kind(attempt: Failed) -> Kind | None:
    for error in chain(attempt.error):
        name = getattr(getattr(error, "error_type", None), "name", "")
        if name in _KINDS:
            return _KINDS[name]
    return None
