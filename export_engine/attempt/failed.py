"""A failed attempt, its diagnosis and its fixes."""

from __future__ import annotations

from dataclasses import dataclass

from export_engine.attempt.attempt import Attempt
from export_engine.attempt.diagnosis import Diagnosis
from export_engine.attempt.fix import Fix


@dataclass(frozen=True, kw_only=True, repr=False)
class Failed(Attempt):
    """A failed attempt."""

    error: Exception | SystemExit
    """torch's exception. Once it is explained, it has no traceback: frames hold the model, and all
    variables of whoever called."""
    traceback: str = ""
    """Its traceback as text, where it has been explained."""
    diagnosis: Diagnosis | None = None
    """The diagnosis, if made: `diagnose`."""
    fixes: tuple[Fix, ...] = ()
    """The fixes, lossless first: `explain`."""
    refusals: tuple[str, ...] = ()
    """Why expected fixes are missing, each one sentence."""

    def __repr__(self) -> str:
        why = self.diagnosis.sentence if self.diagnosis else type(self.error).__name__
        return f"Failed({self.title}, {self.mode}: {why})"
