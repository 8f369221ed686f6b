"""Findings about weights that programs should have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.listing import join_names
from export_engine.programs.component import Component
from export_engine.programs.shared_weights import of_one_model
from export_engine.record import WeightRow

_QUANTIZED = ("scale", "zero_point")


def check_weights(components: Sequence[Component], rows: Sequence[WeightRow]) -> Iterator[Finding]:
    """Copies that differ, and copies that need not be."""
    by_programs: dict[tuple[int, ...], list[WeightRow]] = {}
    for row in rows:
        if row.state == "different" and _is_quantized(row):
            yield _apart(components, [row], Kind.SET_QUANTIZATION)
        elif row.state == "different":
            by_programs.setdefault(tuple(row.holders), []).append(row)
    for apart in by_programs.values():
        yield _apart(components, apart, Kind.SET_WEIGHTS)
    yield from _check_tied(components, rows)
    copies = [row for row in rows if row.state == "duplicated"]
    if copies:
        spare = sum(row.bytes * (len(row.holders) - 1) for row in copies)
        names = join_names([row.names[0] for row in copies])
        holders = dict.fromkeys(components[at].name for row in copies for at in row.holders)
        yield Finding(
            kind=Kind.SET_COPIES,
            severity="note",
            sentence=rules.SetCopies.SENTENCE(
                programs=", ".join(f"`{holder}`" for holder in holders), weights=names, spare=spare
            ),
            why=rules.SetCopies.WHY(),
        )


def _check_tied(components: Sequence[Component], rows: Sequence[WeightRow]) -> Iterator[Finding]:
    """Weights that are one memory in a program, and two in another of the same model."""
    for one, other in (
        permutation for pair in of_one_model(rows) for permutation in permutations(pair)
    ):
        ours, theirs = components[one].weights, components[other].weights
        by_place: dict[str, list[str]] = {}
        for name, held in ours.items():
            if held.place and name in theirs and held.type == theirs[name].type:
                by_place.setdefault(held.place, []).append(name)
        for names in by_place.values():
            places = {theirs[name].place for name in names}
            if len(names) < 2 or len(places) == 1 or "" in places:
                continue
            differ = len({theirs[name].content() for name in names}) > 1
            yield Finding(
                kind=Kind.SET_TIED,
                severity="wrong" if differ else "surprising",
                sentence=rules.SetTied.SENTENCE(
                    names=" and ".join(f"`{text}`" for text in names),
                    one=components[one].name,
                    count=len(places),
                    other=components[other].name,
                    differ=", whose values differ." if differ else ".",
                ),
                why=rules.SetTied.WHY(),
                component=other,
                node=_node(components[other], names[-1]),
            )


def _is_quantized(row: WeightRow) -> bool:
    return any(row.names[0].lower().endswith(text) for text in _QUANTIZED)


def _apart(components: Sequence[Component], rows: Sequence[WeightRow], kind: Kind) -> Finding:
    """A difference of two programs."""
    one, other = (components[at] for at in rows[0].holders)
    mine, theirs = rows[0].names
    more = f"; so do those of {len(rows) - 1} more weights" if len(rows) > 1 else ""
    return Finding(
        kind=kind,
        severity="wrong",
        sentence=rules.SetWeights.SENTENCE(
            mine=mine, one=one.name, theirs=theirs, other=other.name, more=more
        ),
        why=rules.SetWeights.WHY(),
        component=rows[0].holders[1],
        node=_node(other, theirs),
    )


def _node(component: Component, name: str) -> int:
    return next(
        (entry.node for entry in component.record.signature.inputs if entry.target == name), -1
    )
