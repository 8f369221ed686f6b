"""Findings → findings: what a run has decided since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.findings.analysis import in_order
from export_engine.record import Verification


def with_decisions(
    findings: Sequence[Finding], verification: Verification | None
) -> tuple[Finding, ...]:
    """The findings, as notes those that Verify found to change no output; most severe first.

    Args:
        findings: of the program.
        verification: its guarantees; None before Verify.
    """
    rows = verification.rows if verification else ()
    held = {row.name for row in rows if row.verdict == "holds"}
    tried = {
        size
        for trial in (verification.trials if verification else ())
        for size in trial.sizes.split(", ")
    }
    items = [
        replace(
            finding,
            severity="note",
            why=_OF_KIND.get(finding.kind, _AGREES[finding.decided_by])
            + finding.why.removesuffix(rules.UntracedBranch.UNDECIDED()),
        )
        if finding.decided_by in held and tried.issuperset(finding.sizes)
        else finding
        for finding in findings
    ]
    return in_order(items)


_AGREES = {"state": rules.StateChanged.AGREES(), "sound": rules.UntracedBranch.AGREES()}
"""By guarantee, what Verify then found."""
_OF_KIND = {Kind.CONTEXT: rules.Context.AGREES()}
