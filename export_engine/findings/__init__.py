"""Exported attempt → Findings. One module per family; each reads the program and its Record.

Nothing is run and nothing is exported: a finding costs no more than a look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from export_engine.attempt import Exported
from export_engine.finding import SEVERITIES, Finding
from export_engine.findings import (
    baked,
    constants,
    devices,
    operators,
    shared,
    sizes,
    state,
    training,
    writes,
)
from export_engine.record import Record

__all__ = ["find_findings"]

Provider = Callable[[Exported, Record], Iterable[Finding]]

PROVIDERS: tuple[Provider, ...] = (
    shared.found,
    constants.found,
    writes.found,
    baked.found,
    state.found,
    sizes.found,
    training.found,
    devices.found,
    operators.found,
)


def find_findings(exported: Exported, record: Record) -> tuple[Finding, ...]:
    """What is wrong or surprising, the gravest first.

    Args:
        exported: an attempt.
        record: the attempt, described.
    """
    found: list[Finding] = []
    for provider in PROVIDERS:
        found.extend(_asked(provider, exported, record))
    return tuple(sorted(found, key=lambda each: SEVERITIES.index(each.severity)))


def _asked(provider: Provider, exported: Exported, record: Record) -> list[Finding]:
    """What one family finds; nothing from one that stumbles: the others may know something."""
    try:
        return list(provider(exported, record))
    except Exception:  # noqa: BLE001 - whatever it is, the program and other findings stand
        return []
