"""A failure that no family knows: its place and torch's first paragraph, and that it is unknown."""

from __future__ import annotations

from export_engine.attempt import Failed
from export_engine.diagnose.place import failing_stack
from export_engine.diagnosis import Diagnosis, Kind

_LONGEST_SENTENCE = 300


def unknown(attempt: Failed) -> Diagnosis:
    """What can be said of any failure."""
    error = attempt.error
    message = str(getattr(error, "msg", None) or error).strip()
    return Diagnosis(
        kind=Kind.UNKNOWN,
        sentence=_sentence(error, message),
        stack=failing_stack(error),
    )


def _sentence(error: BaseException, message: str) -> str:
    """The first paragraph of torch's message, or the class of an error that says nothing."""
    first = " ".join(message.split("\n\n", maxsplit=1)[0].split())
    if not first:
        return f"torch.export raised {type(error).__name__} and gave no reason."
    return first if len(first) <= _LONGEST_SENTENCE else first[: _LONGEST_SENTENCE - 1] + "…"
