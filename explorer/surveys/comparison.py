"""Two surveys of the same trials: what fails now, what is cured, what changed, what is slower."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from explorer.surveys.rows import GOOD, Row
from explorer.text.escape import harmless

_SLOWER = 1.5
"""How many times as long an export takes to be called slower."""
_LEAST_SECONDS = 1.0
"""Seconds by which it must also be longer: shorter ones are noise."""


class Change(NamedTuple):
    """A trial that ended differently."""

    kind: str
    """`fails now`, `cured`, `other code`, `differs now`, `program changed`, `slower`, `new`,
    `gone`."""
    name: str
    sentence: str


class SurveyComparison:
    """Changes from one survey to a later one. `print` it."""

    def __init__(self, before: Sequence[Row], after: Sequence[Row]) -> None:
        """Make one; rows are paired by name, mode and shapes, whatever Python they ran in.

        Args:
            before: the rows of the earlier survey.
            after: those of the later one.
        """
        self._before = {_trial(row): row for row in before}
        self._after = {_trial(row): row for row in after}
        self.changes = list(self._changes())

    @property
    def ok(self) -> bool:
        """Whether nothing got worse: no trial fails or differs that did not before."""
        return not any(change.kind in ("fails now", "differs now") for change in self.changes)

    def __repr__(self) -> str:
        both = len(self._before.keys() & self._after.keys())
        lines = [f"{both} trials in both surveys, {len(self.changes)} changed."]
        for change in sorted(self.changes, key=lambda each: each.kind):
            lines.append(f"  {change.kind:<15} {change.name}: {change.sentence}")
        return harmless("\n".join(lines))

    def _changes(self) -> Iterator[Change]:
        for key, old in self._before.items():
            new = self._after.get(key)
            if new is None:
                yield Change("gone", old.key, "The later survey does not have it.")
            else:
                yield from _iter_changes(old, new)
        for key, new in self._after.items():
            if key not in self._before:
                yield Change("new", new.key, new.sentence)


def _trial(row: Row) -> tuple[str, str, str]:
    return row.name, row.mode, row.shapes


def _iter_changes(old: Row, new: Row) -> Iterator[Change]:
    was, now = old.outcome in GOOD, new.outcome in GOOD
    if was and not now:
        yield Change("fails now", new.key, f"{new.outcome} {new.code} {new.sentence}".strip())
    elif now and not was:
        yield Change("cured", new.key, f"was {old.outcome} {old.code}".strip())
    elif not now and (old.outcome, old.code) != (new.outcome, new.code):
        before = f"{old.outcome} {old.code}".strip()
        yield Change("other code", new.key, f"{before} → {new.outcome} {new.code}".strip())
    if not (was and now):
        return
    if old.outcome == "exported" and new.outcome == "fixed":
        yield Change("fails now", new.key, f"exports only with fixes: {new.code}")
    if old.outcome == "fixed" and new.outcome == "exported":
        yield Change("cured", new.key, f"no longer needs a fix: {old.code}")
    if old.agrees != "differs" and new.agrees == "differs":
        yield Change("differs now", new.key, new.agreement)
    if changed := _describe_change(old, new):
        yield Change("program changed", new.key, changed)
    slower = new.export_seconds > old.export_seconds * _SLOWER
    if slower and new.export_seconds - old.export_seconds > _LEAST_SECONDS:
        seconds = f"{old.export_seconds:.1f} s → {new.export_seconds:.1f} s"
        yield Change("slower", new.key, f"export: {seconds}")


def _describe_change(old: Row, new: Row) -> str:
    """Differences of two programs: the count of each op, and the ranges of sizes."""
    names = sorted({*old.ops, *new.ops})
    ops = [
        f"{name} {old.ops.get(name, 0)} → {new.ops.get(name, 0)}"
        for name in names
        if old.ops.get(name, 0) != new.ops.get(name, 0)
    ]
    sizes = [
        f"{name} {old.symbols.get(name, 'none')} → {new.symbols.get(name, 'none')}"
        for name in sorted({*old.symbols, *new.symbols})
        if old.symbols.get(name) != new.symbols.get(name)
    ]
    return ", ".join([*ops, *sizes])
