"""Findings as the Record has them."""

from __future__ import annotations

import msgspec

from export_engine.attempt import Exported, Request
from export_engine.describe.fix_cards import fix_card
from export_engine.describe.tables import Stacks, Strings
from export_engine.findings import Finding, find_findings
from export_engine.record import FindingRow, Record


def with_findings(record: Record, exported: Exported, strings: Strings, stacks: Stacks) -> Record:
    """The record of an exported program with what is wrong or surprising about it."""
    found = find_findings(exported, record)
    rows, fixes = [], 0
    for finding in found:
        rows.append(_row(finding, stacks, fixes if finding.fix else -1, exported.request))
        fixes += finding.fix is not None
    frames = stacks.frames()
    return msgspec.structs.replace(
        record,
        findings=rows,
        frames=frames,
        stacks=stacks.stacks(),
        files=stacks.files.entries,
        strings=strings.entries,
        verdict=_verdict(record.verdict, found),
    )


def _row(finding: Finding, stacks: Stacks, fix: int, request: Request | None) -> FindingRow:
    return FindingRow(
        kind=finding.kind.name.lower().replace("_", "-"),
        heading=finding.kind.value,
        severity=finding.severity,
        sentence=finding.sentence,
        why=finding.why,
        stack=stacks.number(finding.stack),
        node=finding.node,
        guard=finding.guard,
        fix=fix,
        card=fix_card(finding.fix, stacks, request) if finding.fix else None,
    )


def _verdict(verdict: str, found: tuple[Finding, ...]) -> str:
    """The verdict with how many findings there are that are more than notes."""
    count = sum(each.severity != "note" for each in found)
    if not count:
        return verdict
    return f"{verdict}, {count} {'finding' if count == 1 else 'findings'}"
