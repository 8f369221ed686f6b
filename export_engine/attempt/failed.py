"""The attempt that torch gave up on, why, and what may help."""

from __future__ import annotations

from dataclasses import dataclass

from export_engine.attempt.attempt import Attempt
from export_engine.attempt.diagnosis import Diagnosis
from export_engine.attempt.fix import Fix


@dataclass(frozen=True, kw_only=True)
class Failed(Attempt):
    """An attempt that torch gave up on."""

    error: Exception
    """What torch raised. Once it is explained, it has no traceback: frames hold the model, and all
    variables of whoever called."""
    traceback: str = ""
    """Its traceback as text, where it has been explained."""
    diagnosis: Diagnosis | None = None
    """Why, where that has been looked at: `diagnose`."""
    fixes: tuple[Fix, ...] = ()
    """What may help, lossless fixes first: `explain`."""
    refusals: tuple[str, ...] = ()
    """Why fixes that one might expect are not among them, each one sentence."""
