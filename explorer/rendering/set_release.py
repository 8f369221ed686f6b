"""The release verdict on a set of programs: each program's, and what is between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from explorer.rendering.attempt_text import counted
from explorer.rendering.escape import harmless
from explorer.rendering.release import MARKS, State, release_of

if TYPE_CHECKING:
    from export_engine.record import ProgramSet, Record


class SetReleaseItem(Struct, frozen=True):
    """One question before a release, and its answer."""

    name: str
    """A program's, or `between them`, `end to end`."""
    state: State
    sentence: str


class SetRelease(Struct, frozen=True):
    """Whether a set of programs can be shipped. `print` it, or use `ok` in a test."""

    verdict: Literal["ready", "open", "not ready"]
    """`not ready` if an item is bad, else `open` if one is, else `ready`."""
    sentence: str
    items: list[SetReleaseItem]

    @property
    def ok(self) -> bool:
        """Whether every item is good."""
        return self.verdict == "ready"

    def __str__(self) -> str:
        wide = max(len(each.name) for each in self.items)
        rows = [
            f"  {MARKS[each.state]} {harmless(each.name):<{wide}}  {harmless(each.sentence)}"
            for each in self.items
        ]
        return "\n".join([harmless(self.sentence), *rows])

    __repr__ = __str__


_STATES: dict[str, State] = {"ready": "good", "open": "open", "not ready": "bad"}


def set_release_of(programs: ProgramSet, records: Mapping[str, Record]) -> SetRelease:
    """The verdict on a set. Nothing is run for it: what was not done is said to be open."""
    items = []
    for name, record in records.items():
        release = release_of(record)
        items.append(SetReleaseItem(name, _STATES[release.verdict], release.sentence))
    items.append(_between(programs))
    end = _end_to_end(programs)
    items += [end] if end else []
    for state, verdict, said in (
        ("bad", "not ready", "Not ready to ship: {}."),
        ("open", "open", "Nothing wrong so far; still open: {}."),
    ):
        names = [each.name for each in items if each.state == state]
        if names:
            return SetRelease(verdict, said.format(", ".join(names)), items)  # type: ignore[arg-type]
    return SetRelease("ready", "Ready to ship: everything here was checked, and holds.", items)


def _between(programs: ProgramSet) -> SetReleaseItem:
    found = {
        severity: sum(each.severity == severity for each in programs.findings)
        for severity in ("wrong", "surprising")
    }
    if found["wrong"]:
        said = f"{counted(found['wrong'], 'finding')} of what does not fit between programs."
        return SetReleaseItem("between them", "bad", said)
    if found["surprising"]:
        said = f"{counted(found['surprising'], 'finding')} to decide on."
        return SetReleaseItem("between them", "open", said)
    said = f"{counted(len(programs.seams), 'seam')}; what is given fits what is taken."
    return SetReleaseItem("between them", "good", said)


def _end_to_end(programs: ProgramSet) -> SetReleaseItem | None:
    """How its generations went; None for a set that is not known to generate."""
    ran = [each for each in programs.trials if each.outcome != "unavailable"]
    wrong = [each for each in ran if each.outcome != "same"]
    if wrong:
        where = ", ".join(filter(None, (wrong[0].backend, wrong[0].sizes)))
        return SetReleaseItem("end to end", "bad", f"{where}: {wrong[0].sentence}")
    if ran:
        by = ", ".join(dict.fromkeys(each.backend for each in ran))
        said = f"{counted(len(ran), 'generation')} have the same tokens as generate(), by {by}."
        return SetReleaseItem("end to end", "good", said)
    if programs.trials:
        return SetReleaseItem("end to end", "open", programs.trials[-1].sentence)
    return None
