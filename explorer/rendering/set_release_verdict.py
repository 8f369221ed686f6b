"""The release verdict on a set of programs: each program's, and what is between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from explorer.rendering.attempt_text import counted
from explorer.rendering.release_verdict import Release, ReleaseItem, State, good_so_far, release_of

if TYPE_CHECKING:
    from export_engine.record import ProgramSet, Record


_STATES: dict[str, State] = {"ready": "good", "open": "open", "not ready": "bad"}


def set_release_of(programs: ProgramSet, records: Mapping[str, Record]) -> Release:
    """The verdict on a set. Nothing is run for it: what was not done is said to be open."""
    items = []
    for name, record in records.items():
        release = release_of(record)
        own = release.called(f"kit[{name!r}]")
        commands = dict.fromkeys(each.command for each in own.items if each.command)
        state = _STATES[release.verdict]
        items.append(ReleaseItem(name, state, release.sentence, "; ".join(commands)))
    items.append(_between(programs))
    end = _end_to_end(programs)
    items += [end] if end else []
    bad = [each.name for each in items if each.state == "bad"]
    if bad:
        return Release("not ready", f"Not ready to ship: {', '.join(bad)}.", items)
    return good_so_far(items)


def _between(programs: ProgramSet) -> ReleaseItem:
    found = {
        severity: sum(each.severity == severity for each in programs.findings)
        for severity in ("wrong", "surprising")
    }
    if found["wrong"]:
        said = f"{counted(found['wrong'], 'finding')} of what does not fit between programs."
        return ReleaseItem("between them", "bad", said, "kit.findings")
    if found["surprising"]:
        said = f"{counted(found['surprising'], 'finding')} to decide on."
        return ReleaseItem("between them", "open", said, "kit.findings")
    said = f"{counted(len(programs.seams), 'seam')}; what is given fits what is taken."
    return ReleaseItem("between them", "good", said)


def _end_to_end(programs: ProgramSet) -> ReleaseItem | None:
    """How its generations went; None for a set that is not known to generate."""
    ran = [each for each in programs.trials if each.outcome != "unavailable"]
    wrong = [each for each in ran if each.outcome != "same"]
    if wrong:
        where = ", ".join(filter(None, (wrong[0].backend, wrong[0].sizes)))
        return ReleaseItem("end to end", "bad", f"{where}: {wrong[0].sentence}")
    if ran:
        by = ", ".join(dict.fromkeys(each.backend for each in ran))
        said = f"{counted(len(ran), 'generation')} have the same tokens as generate(), by {by}."
        return ReleaseItem("end to end", "good", said)
    if programs.trials:
        return ReleaseItem("end to end", "open", programs.trials[-1].sentence, "kit.generate()")
    return None
