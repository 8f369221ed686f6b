"""Findings about positions that do not go on where the last call ended.

A decode that starts at `past + 1` gives tokens, and each is one place too far: nothing fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.programs.component import Component, given_type
from export_engine.programs.flows import is_named_alike
from export_engine.programs.linear_sizes import Linear, parsed
from export_engine.programs.placed_rows import PlacedRows, Rows
from export_engine.record import Flow, Seam, WeightRow


class _Shift(NamedTuple):
    """A jump, at the op that makes it."""

    node: int
    sentence: str


def check_shifts(
    components: Sequence[Component], seams: Sequence[Seam], rows: Sequence[WeightRow]
) -> Iterator[Finding]:
    """Positions that jump between two calls, or go back, by a fixed number."""
    placed = [PlacedRows(each) for each in components]
    names = _table_names(rows)
    for at, component in enumerate(components):
        shift = _miscounted(component, placed[at])
        if shift is not None:
            yield _finding(at, shift)
    for number, seam in enumerate(seams):
        if seam.source == seam.target:
            continue
        one, other = components[seam.source], components[seam.target]
        known = _known(one, other, placed[seam.source], seam.flows)
        for mine, theirs in _tables(placed[seam.source], placed[seam.target], names, seam):
            said = _apart((one.name, mine), (other.name, theirs), known)
            if said:
                yield _finding(seam.target, _Shift(theirs.node, said), number)
                break


def _finding(component: int, shift: _Shift, seam: int = -1) -> Finding:
    return Finding(
        kind=Kind.SET_SHIFT,
        severity="wrong",
        sentence=shift.sentence,
        why=rules.SetShift.WHY(),
        component=component,
        node=shift.node,
        seam=seam,
    )


def _table_names(rows: Sequence[WeightRow]) -> dict[tuple[int, str], str]:
    """Per program and weight, one name for what is one weight in several."""
    return {
        (holder, name): f"{row.holders[0]} {row.names[0]}"
        for row in rows
        for holder, name in zip(row.holders, row.names, strict=True)
    }


def _tables(
    one: PlacedRows, other: PlacedRows, names: Mapping[tuple[int, str], str], seam: Seam
) -> Iterator[tuple[Rows, Rows]]:
    """What both programs look up by position, where each does it in one way."""
    ours = {names.get((seam.source, table), table): used for table, used in one.used.items()}
    for table, used in other.used.items():
        mine = ours.get(names.get((seam.target, table), table), {})
        if len(mine) == len(used) == 1:
            yield next(iter(mine.values())), next(iter(used.values()))


def _known(
    giving: Component, taking: Component, placed: PlacedRows, flows: Sequence[Flow]
) -> dict[str, Linear]:
    """What the names of the second program stand for in those of the first."""
    known: dict[str, Linear] = {}
    for flow in flows:
        taken = taking.record.signature.inputs[flow.input]
        rows = placed.at(flow.source_node)
        if rows is not None and not rows.table:
            known[taken.path or taken.target] = rows.start
        given = given_type(giving, flow).shape
        for size, name in zip(given, taking.type_of(taken).shape, strict=False):
            value = Linear(size) if isinstance(size, int) else parsed(size)
            line = parsed(name) if isinstance(name, str) else None
            if value is not None and line is not None and [s for _, s in line.terms] == [1]:
                known.setdefault(line.terms[0][0], value.plus(Linear(line.number), -1))
    return known


def _apart(one: tuple[str, Rows], other: tuple[str, Rows], known: Mapping[str, Linear]) -> str:
    """By how much the second program's positions are off, as a sentence; empty where they go on."""
    (source, mine), (target, theirs) = one, other
    if not theirs.start.terms:
        return ""  # fixed: that is another finding
    if mine.start.terms and mine.start.terms == theirs.start.terms:
        off = theirs.start.plus(mine.start, -1).number
        if not off:
            return ""
        return rules.SetShift.SAME_START(
            target=target, start=theirs.start, by=_by(off), source=source, other=mine.start
        )
    if mine.start.terms or not all(name in known for name, _ in theirs.start.terms):
        return ""
    after = mine.start.plus(mine.rows or Linear(1))
    start = theirs.start.with_values(known)
    off = start.plus(after, -1).number
    if start.plus(after, -1).terms or not off:
        return ""
    return rules.SetShift.AFTER(
        target=target, start=theirs.start, by=_by(off), source=source, value=start, after=after
    )


def _by(off: int) -> str:
    count = "one place" if abs(off) == 1 else f"{abs(off)} places"
    return f"{count} too {'far' if off > 0 else 'early'}"


def _miscounted(component: Component, placed: PlacedRows) -> _Shift | None:
    """A position that a program gives its next call, and that is not the next one."""
    uses = [each for used in placed.used.values() for each in used.values()]
    for name, node in _kept(component):
        at = Linear(0, ((name, 1),))
        used = next((each for each in uses if each.start.terms == at.terms), None)
        rows = placed.at(node)
        if used is None or rows is None or rows.table or rows.start.terms != at.terms:
            continue
        off = rows.start.plus(at, -1).plus(used.rows or Linear(1), -1)
        if not off.terms and off.number:
            said = f"uses the position `{name}` and leaves `{rows.start}` for its next call"
            return _Shift(rows.node, f"`{component.name}` {said}, {_by(off.number)}.")
    return None


def _kept(component: Component) -> Iterator[tuple[str, int]]:
    """What a program takes or holds, and what makes it for the next call."""
    for _, taken in component.taken():
        for given in component.given():
            if is_named_alike(given.path, taken.path):
                yield taken.path, given.node
    written = component.writes()
    for each in component.record.signature.inputs:
        if each.kind == "buffer" and each.node in written:
            yield each.target, written[each.node]
