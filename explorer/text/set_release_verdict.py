"""The release verdict on a set of programs: each program's, and what is between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from explorer.text.attempt_text import format_count
from explorer.text.release_verdict import (
    Release,
    ReleaseItem,
    State,
    reason_of,
    release_of,
    verdict_on,
)

if TYPE_CHECKING:
    from export_engine.record import ProgramSet, Record


_STATES: dict[str, State] = {"ready": "good", "open": "open", "not ready": "bad"}
_OF_PROGRAMS = {
    "ready": "Checked separately: {}.",
    "open": "Still to check: {}.",
    "not ready": "Not ready: {}.",
}


def set_release_of(programs: ProgramSet, records: Mapping[str, Record]) -> Release:
    """The verdict on a set. Nothing is run for it: a check that did not run is open."""
    items = []
    for name, record in records.items():
        release = release_of(record)
        own = release.called(f"kit[{name!r}]")
        commands = dict.fromkeys(item.command for item in own.items if item.command)
        state, reason = _STATES[release.verdict], reason_of(release.items)
        text = _OF_PROGRAMS[release.verdict].format(reason)
        tried = f"{name}: {reason}"
        items.append(ReleaseItem(name, state, text, "; ".join(commands), tried=tried))
    items.append(_judge_set(programs))
    end = _end_to_end(programs)
    items += [end] if end else []
    return verdict_on(items)


def _judge_set(programs: ProgramSet) -> ReleaseItem:
    entries = {
        severity: sum(finding.severity == severity for finding in programs.findings)
        for severity in ("wrong", "surprising")
    }
    if entries["wrong"]:
        several = "mismatch" if entries["wrong"] == 1 else "mismatches"
        text = f"{entries['wrong']} {several} between programs."
        return ReleaseItem("between them", "bad", text, "kit.findings")
    if entries["surprising"]:
        text = f"{format_count(entries['surprising'], 'finding')} to review."
        return ReleaseItem("between them", "open", text, "kit.findings")
    if not programs.seams:
        return ReleaseItem("between them", "none", "No tensors pass between the programs.")
    matching = f"{format_count(len(programs.seams), 'connection')} without a mismatch"
    return ReleaseItem("between them", "good", f"{matching}.", tried=matching)


def _end_to_end(programs: ProgramSet) -> ReleaseItem | None:
    """How its generations went; None for a set that is not known to generate."""
    ran = [trial for trial in programs.trials if trial.outcome != "unavailable"]
    wrong = [trial for trial in ran if trial.outcome != "same"]
    if wrong:
        where = ", ".join(filter(None, (wrong[0].backend, wrong[0].sizes)))
        return ReleaseItem("end to end", "bad", f"{where}: {wrong[0].sentence}")
    if ran:
        by = ", ".join(dict.fromkeys(trial.backend for trial in ran))
        text = (
            f"{format_count(len(ran), 'generation')} with the same tokens as generate(), by {by}."
        )
        return ReleaseItem("end to end", "good", text, tried=text.rstrip("."))
    if programs.trials:
        return ReleaseItem("end to end", "open", programs.trials[-1].sentence, "kit.generate()")
    return None
