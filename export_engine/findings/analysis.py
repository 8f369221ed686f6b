"""Runs families of findings: what was found, and which kinds could not be looked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from export_engine.attempt import Finding, Kind
from export_engine.defects import log_internal_error
from export_engine.rules import SEVERITIES

_ORDER = list(Kind)
_MOST = 100
"""Findings of one kind."""


class Analysis(NamedTuple):
    """The findings of a program."""

    findings: tuple[Finding, ...]
    """Most severe first."""
    not_looked_for: tuple[Kind, ...]
    """Kinds that may be present although unchecked."""


Family = tuple[Callable[[], Iterable[Finding]] | None, tuple[Kind, ...]]
"""The provider of a family's findings, or None if it cannot be called, and its kinds."""


def analysis_of(families: Iterable[Family]) -> Analysis:
    """Asks families of findings; nothing is known from one that stumbles or cannot be asked."""
    findings: list[Finding] = []
    unknown: list[Kind] = []
    for ask, kinds in families:
        try:
            if ask is None:
                unknown.extend(kinds)
            else:
                findings.extend(ask())
        except Exception as error:  # noqa: BLE001 - whatever it is, the others may know something
            log_internal_error(error, "looking for findings")
            unknown.extend(kinds)
    findings = _limit_per_kind(findings)
    items = {finding.kind for finding in findings}
    return Analysis(
        in_order(findings), tuple(dict.fromkeys(kind for kind in unknown if kind not in items))
    )


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, most severe first."""
    by = sorted(findings, key=lambda each: _ORDER.index(each.kind))
    return tuple(sorted(by, key=lambda each: SEVERITIES.index(each.severity)))


def _limit_per_kind(found: list[Finding]) -> list[Finding]:
    """The first findings of each kind, and in place of the others how many there are."""
    counts = Counter(finding.kind for finding in found)
    seen: Counter[Kind] = Counter()
    kept = []
    for finding in found:
        seen[finding.kind] += 1
        if seen[finding.kind] <= _MOST:
            kept.append(finding)
        elif seen[finding.kind] == _MOST + 1:
            more = counts[finding.kind] - _MOST
            sentence = f"{more:,} more of this kind {'is' if more == 1 else 'are'} not listed."
            kept.append(
                Finding(kind=finding.kind, severity=finding.severity, sentence=sentence, why="")
            )
    return kept
