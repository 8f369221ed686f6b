"""Findings as the Record has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from export_engine.describe.fix_cards import fix_card
from export_engine.describe.graphs import Graphs
from export_engine.describe.tables import Stacks
from export_engine.findings import (
    Analysis,
    Finding,
    in_order,
    look_at_record,
    with_decisions,
)
from export_engine.record import FindingRow, Record

if TYPE_CHECKING:
    from export_engine.attempt import Exported, Request


def with_findings(
    record: Record,
    exported: Exported | None,
    graphs: Graphs,
    also: Sequence[Finding] = (),
) -> Record:
    """The Record of a program with what is wrong or surprising about it.

    Args:
        record: the program, described.
        exported: the attempt that gave it; None where there is the Record alone.
        graphs: whose tables the Record is written with.
        also: findings of a run of the program.
    """
    looked = look_at_record(record) if exported is None else _analyse(exported, record)
    request = exported.request if exported is not None else None
    rows, fixes = [], 0
    findings = in_order([*looked.findings, *also])
    for finding in findings:
        rows.append(_row(finding, graphs.stacks, fixes if finding.fix else -1, request))
        fixes += len(finding.fixes)
    return msgspec.structs.replace(
        record,
        findings=rows,
        not_looked_for=[kind.value for kind in looked.not_looked_for],
        verdict=_verdict(record.verdict, findings),
        **graphs.origins(),
    )


def _analyse(exported: Exported, record: Record) -> Analysis:
    from export_engine.findings import look

    return look(exported, record)


def _row(finding: Finding, stacks: Stacks, fix: int, request: Request | None) -> FindingRow:
    return FindingRow(
        kind=finding.kind.slug,
        heading=finding.kind.value,
        severity=finding.severity,
        sentence=finding.sentence,
        why=finding.why,
        stack=stacks.number(finding.stack),
        node=finding.node,
        guard=finding.guard,
        fix=fix,
        card=fix_card(finding.fix, stacks, request) if finding.fix else None,
        code=finding.kind.code,
    )


def with_decided(record: Record, findings: Sequence[Finding]) -> Record:
    """The Record once Verify has decided which of its findings matter.

    Args:
        record: with its guarantees.
        findings: those that its rows are of, in the same order.
    """
    kept = with_decisions(findings, record.verification)
    if [finding.why for finding in kept] == [finding.why for finding in findings]:
        return record
    by_place = {_key(e): row for e, row in zip(findings, record.findings, strict=True)}
    return msgspec.structs.replace(
        record,
        findings=[
            msgspec.structs.replace(
                by_place[_key(finding)], severity=finding.severity, why=finding.why
            )
            for finding in kept
        ],
        verdict=_verdict(_COUNTED.sub("", record.verdict), kept),
    )


_COUNTED = re.compile(r", \d+ findings?$")


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.kind, finding.sentence, finding.stack, finding.node


def _verdict(verdict: str, found: tuple[Finding, ...]) -> str:
    """The verdict with the number of findings above notes."""
    count = sum(finding.severity != "note" for finding in found)
    if not count:
        return verdict
    return f"{verdict}, {count} {'finding' if count == 1 else 'findings'}"
