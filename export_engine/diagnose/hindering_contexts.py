"""Names what held around a failed export where the call exports without."""

from __future__ import annotations

from dataclasses import replace

from export_engine.attempt import Diagnosis, Failed
from export_engine.listing import join_names


def name_contexts(attempt: Failed) -> Diagnosis | None:
    """The diagnosis of an attempt, with the contexts that hinder it as a reason."""
    diagnosis, effect = attempt.diagnosis, attempt.recording.context_effect
    if diagnosis is None or effect is None:
        return diagnosis
    names = join_names([context.name for context in attempt.recording.contexts])
    text = f"{names} was active around the export; {effect.text}. Export outside of it."
    return replace(diagnosis, why=f"{diagnosis.why} {text}".strip())
