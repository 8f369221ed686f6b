"""Findings, and fixes as cards, as the Record has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from export_engine.describe.graphs import Graphs
from export_engine.describe.tables import Stacks
from export_engine.findings import (
    Analysis,
    Finding,
    in_order,
    look_at_record,
    with_decisions,
)
from export_engine.record import FindingRow, FixCard, Record, ShapesForm

if TYPE_CHECKING:
    from export_engine.attempt import Exported, Fix, Request


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


def fix_card(fix: Fix, stacks: Stacks, request: Request | None) -> FixCard:
    """The Record's row for a fix.

    Args:
        fix: the fix.
        stacks: of the Record.
        request: that it is a fix of.
    """
    return FixCard(
        kind=fix.kind,
        title=fix.title,
        why=fix.why,
        lossy=fix.lossy,
        narrows=fix.narrows,
        gives_up=fix.gives_up,
        before=fix.before,
        after=fix.after,
        diffs=[edit.diff(stacks.files.name_of(edit.file)) for edit in fix.edits],
        stack=stacks.number(fix.stack),
        tried=fix.is_known_to_export,
        forms=_forms(fix, request) if fix.kind == "shapes" and request else [],
    )


def _forms(fix: Fix, request: Request) -> list[ShapesForm]:
    """The shapes that a fix requests, in either form."""
    from export_engine.shapes import forms

    changed = fix.change(request)
    shapes = changed.shapes
    if shapes is None:
        return []
    return [
        ShapesForm(
            form.name, "" if form.shapes is None else str(form.shapes), form.python, form.reason
        )
        for form in forms(shapes, changed.target, changed.args, changed.kwargs)
    ]
