"""The verdict on a program, which every view, text, report and exit code uses.

Read off the Record alone, and nothing is run for it. A claim never says more than was run, and no
two of them contradict each other: where a run, a finding or a guarantee shows that the program
differs from the model, no other claim counts as verified.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from explorer.text.attempt_text import conditions_kept, format_count
from explorer.text.escape import harmless
from explorer.text.exit_codes import BAD, OK, UNCHECKED
from export_engine.listing import join_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from export_engine.record import GuaranteeRow, Record, RunRow, Symbol

State = Literal["good", "open", "bad", "none"]
"""`open`: not checked yet, or for a person to decide. `none`: there is nothing to check."""


class ReleaseItem(Struct, frozen=True):
    """One claim about a program, and its result."""

    name: str
    """`export`, `findings`, `verification`, `sizes`, `runs`, `values`; of a set, a program's name
    too."""
    state: State
    sentence: str
    """`1 guarantee is broken.`"""
    command: str = ""
    """If it is not good, the call that closes it, `ex.verify()`, or shows the decision."""
    words: str = ""
    """The same in a few words, for a badge: `differs on cpu`; empty if nothing was looked at."""
    count: str = ""
    """Beside the name of its pane: a number or a sign."""
    tried: str = ""
    """If it is good, the checks that ran, for the verdict: `13 guarantees hold`."""


class Release(Struct, frozen=True):
    """Whether a program, or a set of them, can be shipped. `print` it, or use `ok` in a test."""

    verdict: Literal["ready", "open", "not ready"]
    """`not ready` if an item is bad, else `open` if one is, else `ready`."""
    sentence: str
    """The verdict with its reasons, in a line."""
    items: list[ReleaseItem]
    sign: State = "good"
    """The worst of the checked items: also `good` if nothing was checked since the export."""
    doubted: list[str] = []
    """Names of guarantees that held, but that another result contradicts."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong, and no possible check is left."""
        return self.verdict == "ready"

    @property
    def begun(self) -> bool:
        """Whether any check ran after the export."""
        return any(item.words or item.state == "bad" for item in self.items)

    def item(self, name: str) -> ReleaseItem | None:
        """One claim by its name; None if the verdict has no such claim."""
        return next((claim for claim in self.items if claim.name == name), None)

    def exit_code(self, asked: Collection[str] | None = None) -> int:
        """The code that a command exits with.

        Args:
            asked: names of the claims that the command was asked to check; by default all.

        Returns:
            `BAD` if any claim is bad, else `UNCHECKED` if one that was asked for is open, else
            `OK`.
        """
        if self.verdict == "not ready":
            return BAD
        wanted = [item for item in self.items if asked is None or item.name in asked]
        return UNCHECKED if any(item.state == "open" for item in wanted) else OK

    def __str__(self) -> str:
        wide = max(_WIDE, *(len(claim.name) for claim in self.items))
        lines = [harmless(self.sentence)]
        for item in self.items:
            start = f"  {MARKS[item.state]} {harmless(item.name):<{wide}}  "
            lines.append(f"{start}{harmless(item.sentence)}")
            if item.command:
                lines.append(f"{' ' * len(start)}→ {harmless(item.command)}")
        return "\n".join(lines)

    __repr__ = __str__

    def called(self, name: str) -> Release:
        """The same for what has another name than `ex` or `kit`: `_export.verify()`."""
        items = [
            replace(item, command=_CALLED.sub(lambda _: name, item.command)) for item in self.items
        ]
        return replace(self, items=items)


_WIDE = len("verification")
_FEW = 4
_NO_MODEL = "opened without its eager model."
"""How a run says that it was compared with the program itself."""
_CALLED = re.compile(r"(?:^|(?<=; )|(?<=print\())(?:ex|kit)\b")
"""The name of the program, or of the set, in commands."""
MARKS: dict[State, str] = {"good": "✓", "open": "?", "bad": "✗", "none": "–"}


def release_of(record: Record) -> Release:
    """The verdict on an attempt."""
    if record.failure is not None or record.outcome != "exported":
        reason = record.failure.sentence if record.failure else record.verdict
        failed = ReleaseItem("export", "bad", reason, words="failed")
        return Release("not ready", "Not ready to ship: it does not export.", [failed], "bad")
    items = [
        _export(record),
        _findings(record),
        _verification(record),
        _sizes(record),
        _runs(record),
        *_values(record),
    ]
    release = verdict_on(_reconcile(items, record))
    return replace(release, doubted=_find_doubts(items, record))


def verdict_on(items: list[ReleaseItem]) -> Release:
    """The verdict that follows from claims."""
    states = [item.state for item in items]
    if "bad" in states:
        return Release("not ready", f"Not ready to ship: {reason_of(items)}.", items, "bad")
    sign: State = "open" if any(item.words and item.state == "open" for item in items) else "good"
    if "open" in states:
        text = f"Nothing wrong so far; still to check: {reason_of(items)}."
        return Release("open", text, items, sign)
    return Release("ready", f"Ready to ship: {reason_of(items)}.", items, sign)


def reason_of(items: Sequence[ReleaseItem]) -> str:
    """The problems in a few words, or the open claims, or the checks that ran."""
    wrong = [item for item in items if item.state == "bad"]
    bad = [item.words for item in wrong if item.words] or [item.name for item in wrong]
    still = [item.name for item in items if item.state == "open"]
    tried = [item.tried for item in items if item.tried]
    return "; ".join(bad) or ", ".join(still) or "; ".join(tried) or "every check passed"


def _reconcile(items: list[ReleaseItem], record: Record) -> list[ReleaseItem]:
    """The claims, of which none counts as verified beside evidence that the program is wrong."""
    against = set(_evidence(items, record))
    bad = any(item.state == "bad" for item in items)
    told = []
    for claim in items:
        others = [item for item in items if item.name in against and item.name != claim.name]
        if claim.state == "good" and others and _is_agreement(claim, record):
            named = " and ".join(item.name for item in others)
            sentence = f"{claim.sentence} See {named}, where the program differs."
            count = "?" if claim.count else ""
            claim = replace(  # noqa: PLW2901 - the claim as it may be said beside the others
                claim, state="open", sentence=sentence, count=count, command=others[0].command
            )
        if claim.words == VERIFIED and bad:
            claim = replace(claim, words=claim.tried)  # noqa: PLW2901 - the same
        told.append(claim)
    return told


def _find_doubts(items: Sequence[ReleaseItem], record: Record) -> list[str]:
    """Guarantees that Verify confirmed and that a run or a finding contradicts."""
    others = set(_evidence(items, record)) - {"verification", "runs"}
    differs = any(row.outcome == "differs" and row.backend == "program" for row in record.runs)
    rows = record.verification.rows if record.verification and (others or differs) else []
    return [row.name for row in rows if row.name in _ANSWERS and row.verdict == "holds"]


def _is_agreement(item: ReleaseItem, record: Record) -> bool:
    """Whether a claim says that the program answers as the model does."""
    if item.name == "export":
        return record.check is not None
    return item.name in ("verification", "sizes")


def _evidence(items: Sequence[ReleaseItem], record: Record) -> Iterator[str]:
    """Names of the claims which show that the program differs from the model."""
    rows = record.verification.rows if record.verification else []
    bad = {item.name for item in items if item.state == "bad"}
    yield from bad & {"export", "findings", "values"}
    if any(row.verdict == "broken" and row.name in _ANSWERS for row in rows):
        yield "verification"
    if any(row.outcome == "differs" for row in record.runs):
        yield "runs"


VERIFIED = "verified"
"""The badge where every guarantee was checked and holds, and nothing else is wrong."""
_ANSWERS = ("sound", "state")
"""Guarantees that compare what the program and the model answer."""


def _export(record: Record) -> ReleaseItem:
    check, state = record.check, fixes_checked(record)
    if check is not None and state != "good":
        command = "ex.verify()" if state == "open" else ""
        return ReleaseItem("export", state, check.sentence, command, _FIXES[check.verdict])
    if record.given_up:
        lost = " ".join(f"{loss.rstrip('.')}." for loss in record.given_up)
        text = f"Uses lossy fixes: {lost}"
        return ReleaseItem("export", "open", text, "print(ex)", "lossy fixes")
    text = f"{record.verdict[:1].upper()}{record.verdict[1:]}."
    if check is not None and check.verdict == "agrees":
        text += f" {check.sentence}"
    return ReleaseItem("export", "good", text)


_FIXES = {
    "differs": "fix differs from eager",
    "refused": "fix rejects sizes",
    "not checked": "fix not compared",
}


def fixes_checked(record: Record) -> State:
    """Whether a program that fixes made is known to be the model's; `good` without fixes.

    Where it was not compared with eager as fixes were applied, Verify may have done so since.
    """
    check, sound = record.check, _find_soundness(record)
    if check is None or check.verdict == "agrees":
        return "good"
    if check.verdict == "not checked":
        return "good" if sound is not None and sound.verdict == "holds" else "open"
    return "bad"


def _findings(record: Record) -> ReleaseItem:
    grave = [finding for finding in record.findings if finding.severity != "note"]
    wrong = sum(finding.severity == "wrong" for finding in grave)
    words = format_count(len(grave), "finding") + (f", {wrong} wrong" if wrong else "")
    count = str(len(grave))
    if wrong:
        verb = "shows" if wrong == 1 else "show"
        text = (
            f"{format_count(wrong, 'finding')} {verb} that the program may differ from the model."
        )
        return ReleaseItem("findings", "bad", text, "ex.findings", words, count)
    if grave:
        text = f"{format_count(len(grave), 'finding')} to review."
        return ReleaseItem("findings", "open", text, "ex.findings", words, count)
    notes, left = len(record.findings), len(record.not_looked_for)
    text = f"No findings, only {format_count(notes, 'note')}." if notes else "None."
    text += f" {format_count(left, 'kind')} not checked: they need the model." if left else ""
    if not notes:
        return ReleaseItem("findings", "good", text)
    return ReleaseItem("findings", "good", text, "", format_count(notes, "note"), str(notes))


def _verification(record: Record) -> ReleaseItem:
    name, verification = "verification", record.verification
    if verification is None:
        return ReleaseItem(name, "open", "Not run.", "ex.verify()")
    of = {
        verdict: [row for row in verification.rows if row.verdict == verdict]
        for verdict in ("holds", "broken", "not checked")
    }
    broken, left = of["broken"], [row for row in of["not checked"] if not row.lacking]
    shown = "print(ex.verify())"
    if broken:
        words = f"{format_count(len(broken), 'guarantee')} broken"
        return ReleaseItem(name, "bad", verification.sentence, shown, words, str(len(broken)))
    if left:
        words = f"{format_count(len(left), 'guarantee')} not checked"
        return ReleaseItem(name, "open", verification.sentence, shown, words, "?")
    count = len(of["holds"])
    held = f"{count} guarantee holds" if count == 1 else f"{count} guarantees hold"
    if not of["not checked"]:
        return ReleaseItem(name, "good", f"{held}.", "", VERIFIED, "✓", held)
    lacking = ", ".join(dict.fromkeys(row.lacking for row in of["not checked"]))
    missing = f"{len(of['not checked'])} could not be checked without {lacking}"
    return ReleaseItem(name, "good", f"{held}; {missing}.", "", held, "✓", f"{held}; {missing}")


def _sizes(record: Record) -> ReleaseItem:
    if not record.symbols:
        text = "All are static: the program accepts only the sizes of the example."
        return ReleaseItem("sizes", "none", text)
    varies, sound = _varies(record.symbols), _find_soundness(record)
    if sound is not None and sound.lacking:
        return ReleaseItem("sizes", "none", f"{varies}: {sound.sentence}{_only_where(record)}")
    if sound is not None:
        state: State = _OF_GUARANTEES[sound.verdict]
        text = f"{sound.sentence}{_only_where(record)}"
        command = "print(ex.verify())" if state in ("bad", "open") else ""
        return ReleaseItem("sizes", state, text, command, tried=_as_part(sound.sentence))
    check = record.check
    if check is not None and check.verdict == "agrees":
        text = f"{check.sentence} The program accepts {varies}."
        return ReleaseItem("sizes", "good", text, tried=_as_part(check.sentence))
    return ReleaseItem(
        "sizes", "open", f"{varies}: not compared with eager at other sizes.", "ex.verify()"
    )


_OF_GUARANTEES: dict[str, State] = {
    "holds": "good",
    "broken": "bad",
    "not checked": "open",
    "not applicable": "none",
}


def _as_part(sentence: str) -> str:
    """A sentence as a part of a longer one."""
    return f"{sentence[:1].lower()}{sentence[1:]}".rstrip(".")


def _only_where(record: Record) -> str:
    """Conditions on several sizes at once, which no range expresses."""
    kept = [rule.text for rule in conditions_kept(record)]
    more = f", and {format_count(len(kept) - 1, 'more condition')}" if len(kept) > 1 else ""
    return f" Only if {kept[0]}{more}." if kept else ""


def _find_soundness(record: Record) -> GuaranteeRow | None:
    """The guarantee that the program answers as eager does within its contract, if checked."""
    rows = record.verification.rows if record.verification else []
    return next((row for row in rows if row.name == "sound"), None)


def _varies(symbols: Sequence[Symbol]) -> str:
    """The dynamic sizes, and how many numbers are computed from data, whose names say little."""
    backed = [symbol for symbol in symbols if symbol.kind == "backed"]
    text = ", ".join(f"{symbol.name} {symbol.range}" for symbol in backed[:4])
    text += f" and {len(backed) - 4} more" if len(backed) > 4 else ""
    unbacked = len(symbols) - len(backed)
    if not unbacked:
        return text
    return f"{text}{' and ' if text else ''}{format_count(unbacked, 'data-dependent number')}"


def _runs(record: Record) -> ReleaseItem:
    """The runs compared with eager; a row that could not run counts until one like it does."""
    unlike = [row for row in record.runs if row.backend == "eager" and row.outcome == "failed"]
    alone = {(row.device, row.inputs, row.where) for row in unlike}
    rows = [
        row
        for row in record.runs
        if (row.backend != "eager" or row.outcome == "differs")
        and (row.outcome != "failed" or (row.device, row.inputs, row.where) not in alone)
    ]
    of = {
        outcome: [row for row in rows if row.outcome == outcome]
        for outcome in ("differs", "failed", "agrees", "refused", "unavailable")
    }
    for outcome, verb in (("differs", "differs from eager"), ("failed", "fails")):
        if wrong := of[outcome]:
            what = f"does not keep {join_names(wrong[0].lost)}" if wrong[0].lost else verb
            text = f"{wrong[0].title} {what} on {wrong[0].device}{_inputs(wrong[0])}."
            text += f" So do {len(wrong) - 1} more runs." if len(wrong) > 1 else ""
            badge = f"{'differs' if outcome == 'differs' else 'failed'} on {_devices(wrong)}"
            command = f"print(ex.run(backend={wrong[0].backend!r}))"
            text = f"{text[:1].upper()}{text[1:]}"
            return ReleaseItem("runs", "bad", text, command, badge, str(len(wrong)))
    if unlike:
        text = f"Not compared with eager on {unlike[0].device}{_inputs(unlike[0])}: "
        text += f"{unlike[0].sentence[:1].lower()}{unlike[0].sentence[1:]}"
        badge = f"not compared on {_devices(unlike)}"
        return ReleaseItem("runs", "open", text, "print(ex.run())", badge, "?")
    ran = {(row.backend, row.device) for row in of["agrees"]}
    refused = [row for row in of["refused"] if (row.backend, row.device) not in ran]
    if refused:
        text = f"{refused[0].title} was not called: the program rejects the inputs."
        return ReleaseItem("runs", "open", text, "ex.run()", "inputs rejected", "–")
    absent = [row for row in of["unavailable"] if (row.backend, row.device) not in ran]
    if absent:
        text = f"{absent[0].title} did not run on {absent[0].device}: {absent[0].sentence}"
        badge = f"did not run on {_devices(absent)}"
        return ReleaseItem("runs", "open", text, "ex.run()", badge, "–")
    if not ran:
        return ReleaseItem("runs", "open", "Not run.", "ex.run()")
    names = _few([f"{row.title} on {row.device}{_inputs(row)}" for row in of["agrees"]])
    inputs = dict.fromkeys(map(_inputs, of["agrees"]))
    where = next(iter(inputs)) if len(inputs) == 1 else f" at {len(inputs)} inputs"
    badge = f"agrees on {_devices(of['agrees'])}{where}"
    tried, text = f"runs agree: {names}", f"Agrees with eager: {names}."
    if any(row.sentence.endswith(_NO_MODEL) for row in of["agrees"]):
        tried = f"runs agree with the exported program, not compared with eager: {names}"
        text = f"Compared with the exported program, not with eager: {names}. "
        text += f"The program was {_NO_MODEL}"
    return ReleaseItem("runs", "good", text, "", badge, "✓", tried)


def _few(names: Sequence[str]) -> str:
    told = list(dict.fromkeys(names))
    more = f" and {len(told) - _FEW} more" if len(told) > _FEW else ""
    return ", ".join(told[:_FEW]) + more


def _devices(rows: Sequence[RunRow]) -> str:
    return ", ".join(dict.fromkeys(row.device for row in rows))


def _inputs(row: RunRow) -> str:
    """` at batch=2`."""
    named = "the example" if row.inputs == "example" else row.inputs
    return f" at {named}" if named else ""


def _values(record: Record) -> Iterator[ReleaseItem]:
    """Whether values agree with eager's op by op, if they were compared."""
    pairs = record.pairs
    if pairs is None or pairs.other != "eager" or pairs.agrees:
        return
    command = "print(ex.compare())"
    yield ReleaseItem("values", "open", pairs.sentence, command, "values differ", "≠")
