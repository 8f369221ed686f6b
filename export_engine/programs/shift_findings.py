"""Findings about positions that do not go on where the last call ended.

A decode that starts at `past + 1` gives tokens, and each is one place too far: nothing fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.programs.component import Component, find_given_type
from export_engine.programs.flows import is_named_alike
from export_engine.programs.linear_sizes import Linear, parse_size
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
    placed = [PlacedRows(component) for component in components]
    names = _table_names(rows)
    for at, component in enumerate(components):
        shift = _find_miscount(component, placed[at])
        if shift is not None:
            yield _finding(at, shift)
    for number, seam in enumerate(seams):
        if seam.source == seam.target:
            continue
        one, other = components[seam.source], components[seam.target]
        linears = _match_names(one, other, placed[seam.source], seam.flows)
        for mine, theirs in _tables(placed[seam.source], placed[seam.target], names, seam):
            text = _apart((one.name, mine), (other.name, theirs), linears)
            if text:
                yield _finding(seam.target, _Shift(theirs.node, text), number)
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
    """Tables that both programs index by position, if each does so in one way."""
    ours = {names.get((seam.source, table), table): used for table, used in one.used.items()}
    for table, used in other.used.items():
        mine = ours.get(names.get((seam.target, table), table), {})
        if len(mine) == len(used) == 1:
            yield next(iter(mine.values())), next(iter(used.values()))


def _match_names(
    giving: Component, taking: Component, placed: PlacedRows, flows: Sequence[Flow]
) -> dict[str, Linear]:
    """The second program's names in terms of the first's."""
    linears: dict[str, Linear] = {}
    for flow in flows:
        taken = taking.record.signature.inputs[flow.input]
        rows = placed.at(flow.source_node)
        if rows is not None and not rows.table:
            linears[taken.path or taken.target] = rows.start
        shape = find_given_type(giving, flow).shape
        for size, name in zip(shape, taking.type_of(taken).shape, strict=False):
            value = Linear(size) if isinstance(size, int) else parse_size(size)
            line = parse_size(name) if isinstance(name, str) else None
            if value is not None and line is not None and [s for _, s in line.terms] == [1]:
                linears.setdefault(line.terms[0][0], value.plus(Linear(line.number), -1))
    return linears


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
    count = "one position" if abs(off) == 1 else f"{abs(off)} positions"
    return f"{count} too {'far' if off > 0 else 'early'}"


def _find_miscount(component: Component, placed: PlacedRows) -> _Shift | None:
    """A position that a program gives its next call, and that is not the next one."""
    uses = [rows for used in placed.used.values() for rows in used.values()]
    for name, node in _iter_state(component):
        at = Linear(0, ((name, 1),))
        used = next((use for use in uses if use.start.terms == at.terms), None)
        rows = placed.at(node)
        if used is None or rows is None or rows.table or rows.start.terms != at.terms:
            continue
        off = rows.start.plus(at, -1).plus(used.rows or Linear(1), -1)
        if not off.terms and off.number:
            text = f"uses the position `{name}` and passes `{rows.start}` to its next call"
            return _Shift(rows.node, f"`{component.name}` {text}, {_by(off.number)}.")
    return None


def _iter_state(component: Component) -> Iterator[tuple[str, int]]:
    """A program's input or buffer, and its source for the next call."""
    for _, taken in component.taken():
        for item in component.given():
            if is_named_alike(item.path, taken.path):
                yield taken.path, item.node
    written = component.writes()
    for entry in component.record.signature.inputs:
        if entry.kind == "buffer" and entry.node in written:
            yield entry.target, written[entry.node]
