"""Exported attempt → Findings. One module per family; each reads the program and its Record.

Nothing is run and nothing is exported: a finding costs no more than a look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from export_engine.attempt import Exported
from export_engine.defects import passed_over
from export_engine.findings import (
    baked_values,
    constant_writes,
    constants,
    devices,
    operators,
    outside_values,
    overlapping_inputs,
    shared_inputs,
    side_effects,
    specialized_sizes,
    training_mode,
)
from export_engine.findings.finding import SEVERITIES, Finding
from export_engine.record import Record

__all__ = ["find_findings"]

Provider = Callable[[Exported, Record], Iterable[Finding]]

PROVIDERS: tuple[Provider, ...] = (
    shared_inputs.found,
    overlapping_inputs.found,
    constants.found,
    constant_writes.found,
    baked_values.found,
    outside_values.found,
    side_effects.found,
    specialized_sizes.found,
    training_mode.found,
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
    except Exception as error:  # noqa: BLE001 - whatever it is, the program and other findings stand
        passed_over(error, "looking for findings")
        return []
