"""How severe a problem is, in the words of SARIF."""

from __future__ import annotations

from typing import Literal

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")
"""Most severe first."""

OF_FINDINGS: dict[str, Level] = {"wrong": "error", "surprising": "warning", "note": "note"}


def fails(level: Level, fail_on: Level) -> bool:
    """Whether a problem is at least as severe as what fails a check."""
    return LEVELS.index(level) <= LEVELS.index(fail_on)
