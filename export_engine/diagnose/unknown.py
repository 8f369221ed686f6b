"""An unrecognized failure: its place and torch's first paragraph."""

from __future__ import annotations

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind
from export_engine.diagnose.errors import message
from export_engine.diagnose.failing_line import failing_place
from export_engine.diagnose.torch_messages import plain
from export_engine.diagnose.value_origin import find_last_traced
from export_engine.traced_sizes import symbol_names


def diagnose_unknown(attempt: Failed) -> Diagnosis:
    """Diagnoses any failure."""
    error = attempt.error
    place = failing_place(error)
    return Diagnosis(
        kind=Kind.UNKNOWN,
        sentence=_sentence(error, plain(message(error), symbol_names(attempt))),
        why=rules.Unknown.WHY(),
        stack=place.stack,
        span=place.span,
        related=() if place.stack else find_last_traced(attempt),
    )


def _sentence(error: BaseException, said: str) -> str:
    """The first paragraph of torch's message, or the class of an error that says nothing."""
    name = type(error).__name__
    if not said:
        return rules.Unknown.NO_MESSAGE(name=name)
    return f"torch.export raised {name}: {said}."
