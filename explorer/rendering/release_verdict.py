"""The release verdict: what a person needs to know before a program is shipped, in one line.

Read off the Record alone: what was not looked at is said to be open, and nothing is run for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from explorer.rendering.attempt_text import conditions_kept, counted
from explorer.rendering.escape import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from export_engine.record import GuaranteeRow, Record, Symbol

State = Literal["good", "open", "bad"]
"""`open`: not checked yet, or for a person to decide."""


class ReleaseItem(Struct, frozen=True):
    """One question before a release, and its answer."""

    name: str
    """`export`, `findings`, `verification`, `sizes`, `runs`; of a set, a program's name too."""
    state: State
    sentence: str
    """`1 guarantee is broken.`"""
    command: str = ""
    """Of one that is not good, what closes it, `ex.verify()`, or shows what is to be decided."""


class Release(Struct, frozen=True):
    """Whether a program, or a set of them, can be shipped. `print` it, or use `ok` in a test."""

    verdict: Literal["ready", "open", "not ready"]
    """`not ready` if an item is bad, else `open` if one is, else `ready`."""
    sentence: str
    """The verdict with its reasons, in a line."""
    items: list[ReleaseItem]

    @property
    def ok(self) -> bool:
        """Whether every item is good."""
        return self.verdict == "ready"

    def __str__(self) -> str:
        wide = max(_WIDE, *(len(each.name) for each in self.items))
        lines = [harmless(self.sentence)]
        for each in self.items:
            start = f"  {_MARKS[each.state]} {harmless(each.name):<{wide}}  "
            lines.append(f"{start}{harmless(each.sentence)}")
            if each.command:
                lines.append(f"{' ' * len(start)}→ {harmless(each.command)}")
        return "\n".join(lines)

    __repr__ = __str__

    def called(self, name: str) -> Release:
        """The same for what has another name than `ex` or `kit`: `_export.verify()`."""
        items = [
            replace(each, command=_CALLED.sub(lambda _: name, each.command)) for each in self.items
        ]
        return replace(self, items=items)


_WIDE = len("verification")
_CALLED = re.compile(r"(?:^|(?<=; )|(?<=print\())(?:ex|kit)\b")
"""What a command calls the program, or the set of them."""
_MARKS = {"good": "✓", "open": "?", "bad": "✗"}


def release_of(record: Record) -> Release:
    """The verdict on an attempt."""
    if record.failure is not None or record.outcome != "exported":
        reason = record.failure.sentence if record.failure else record.verdict
        failed = ReleaseItem("export", "bad", reason)
        return Release("not ready", "Not ready to ship: it does not export.", [failed])
    items = [
        _export(record),
        _findings(record),
        _verification(record),
        _sizes(record),
        _runs(record),
    ]
    bad = [each for each in items if each.state == "bad"]
    if bad:
        told = " ".join(each.sentence for each in bad)
        return Release("not ready", f"Not ready to ship. {told}", items)
    return good_so_far(items)


def good_so_far(items: list[ReleaseItem]) -> Release:
    """The verdict where no item is bad."""
    still = [each.name for each in items if each.state == "open"]
    if still:
        return Release("open", f"Nothing wrong so far; still open: {', '.join(still)}.", items)
    return Release("ready", "Ready to ship: all that can be checked here was, and holds.", items)


def _export(record: Record) -> ReleaseItem:
    check, state = record.check, fixes_checked(record)
    if check is not None and state != "good":
        return ReleaseItem(
            "export", state, check.sentence, "ex.verify()" if state == "open" else ""
        )
    if record.given_up:
        lost = " ".join(f"{each.rstrip('.')}." for each in record.given_up)
        said = f"By fixes that give something up. {lost}"
        return ReleaseItem("export", "open", said, "print(ex)")
    return ReleaseItem("export", "good", f"{record.verdict[:1].upper()}{record.verdict[1:]}.")


def fixes_checked(record: Record) -> State:
    """Whether a program that fixes made is known to be the model's; `good` without fixes.

    Where it was not compared with eager as fixes were applied, Verify may have done so since.
    """
    check, sound = record.check, _sound(record)
    if check is None or check.verdict == "agrees":
        return "good"
    if check.verdict == "not checked":
        return "good" if sound is not None and sound.verdict == "holds" else "open"
    return "bad"


def _findings(record: Record) -> ReleaseItem:
    wrong = sum(each.severity == "wrong" for each in record.findings)
    surprising = sum(each.severity == "surprising" for each in record.findings)
    if wrong:
        said = f"{counted(wrong, 'finding')} where the program may differ from the model."
        return ReleaseItem("findings", "bad", said, "ex.findings")
    if surprising:
        said = f"{counted(surprising, 'finding')} to decide on."
        return ReleaseItem("findings", "open", said, "ex.findings")
    notes, left = len(record.findings), len(record.not_looked_for)
    said = f"None but {counted(notes, 'note')}." if notes else "None."
    said += f" {counted(left, 'kind')} not looked for: they need the model." if left else ""
    return ReleaseItem("findings", "good", said)


def _verification(record: Record) -> ReleaseItem:
    found = record.verification
    if found is None:
        return ReleaseItem("verification", "open", "Not run.", "ex.verify()")
    left = [row for row in found.rows if row.verdict == "not checked" and not row.lacking]
    state: State = "bad" if found.verdict == "broken" else "open" if left else "good"
    return ReleaseItem(
        "verification", state, found.sentence, "" if state == "good" else "print(ex.verify())"
    )


def _sizes(record: Record) -> ReleaseItem:
    if not record.symbols:
        said = "All are static: the program takes only the sizes of the example."
        return ReleaseItem("sizes", "good", said)
    varies = _varies(record.symbols)
    sound = _sound(record)
    if sound is not None:
        states: dict[str, State] = {"broken": "bad", "not checked": "open"}
        state = states.get(sound.verdict, "good")
        state = "good" if sound.lacking else state
        said = f"{sound.sentence}{_only_where(record)}"
        return ReleaseItem("sizes", state, said, "" if state == "good" else "print(ex.verify())")
    if record.check is not None and record.check.verdict == "agrees":
        return ReleaseItem("sizes", "good", f"{varies}. {record.check.sentence}")
    said = f"{varies}: not compared with eager at other sizes."
    return ReleaseItem("sizes", "open", said, "ex.verify()")


def _only_where(record: Record) -> str:
    """What the program asks of several sizes at once, which no range says."""
    kept = [rule.text for rule in conditions_kept(record)]
    more = f", and {counted(len(kept) - 1, 'more condition')}" if len(kept) > 1 else ""
    return f" Only where {kept[0]}{more}." if kept else ""


def _sound(record: Record) -> GuaranteeRow | None:
    """The guarantee that the program answers as eager does within its contract, if checked."""
    rows = record.verification.rows if record.verification else []
    return next((row for row in rows if row.name == "sound"), None)


def _varies(symbols: Sequence[Symbol]) -> str:
    """The dynamic sizes, and how many numbers are computed from data, whose names say little."""
    backed = [each for each in symbols if each.kind == "backed"]
    said = ", ".join(f"{each.name} {each.range}" for each in backed[:4])
    said += f" and {len(backed) - 4} more" if len(backed) > 4 else ""
    unbacked = len(symbols) - len(backed)
    if not unbacked:
        return said
    return f"{said}{' and ' if said else ''}{counted(unbacked, 'number')} computed from data"


def _runs(record: Record) -> ReleaseItem:
    ran = [row for row in record.runs if row.backend != "eager" and row.outcome != "unavailable"]
    wrong = [row for row in ran if row.outcome in ("differs", "failed")]
    if wrong:
        first = wrong[0]
        more = f" So do {len(wrong) - 1} more." if len(wrong) > 1 else ""
        said = "differs from eager" if first.outcome == "differs" else "fails"
        told = f"{first.title} {said} on {first.device}.{more}"
        return ReleaseItem("runs", "bad", told, f"print(ex.run(backend={first.backend!r}))")
    if not ran:
        why = "The backends that were asked for cannot run here." if record.runs else "Not run."
        return ReleaseItem("runs", "open", why, "ex.run()")
    names = dict.fromkeys(f"{row.title} on {row.device}" for row in ran)
    return ReleaseItem("runs", "good", f"Agrees with eager: {', '.join(names)}.")
