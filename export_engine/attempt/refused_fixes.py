"""Refusals: why a fix that one might expect is not offered, noted beside the diagnosis."""

from __future__ import annotations

from export_engine.attempt.failed import Failed

KEY = "refusals"
"""Of `Diagnosis.facts`: the reasons, each one sentence."""


def refuse(attempt: Failed, reason: str) -> None:
    """Notes a reason, once."""
    if attempt.diagnosis is not None:
        known = attempt.diagnosis.facts.setdefault(KEY, [])
        if reason not in known:
            known.append(reason)


def refusals(attempt: Failed) -> tuple[str, ...]:
    """What has been refused so far."""
    return tuple(attempt.diagnosis.facts.get(KEY, ())) if attempt.diagnosis else ()
