"""Sizes that are one size in several programs: they meet at a seam, or have one name."""

from __future__ import annotations

from collections.abc import Sequence

from export_engine.programs.component import Component, find_given_type
from export_engine.programs.size_ranges import symbol_of
from export_engine.record import Seam, SharedSymbol, SymbolMember

_Member = tuple[int, int]
"""A component and a symbol of it."""


def find_shared_symbols(
    components: Sequence[Component], seams: Sequence[Seam]
) -> list[SharedSymbol]:
    """The symbols of a set that more than one program has."""
    parent: dict[_Member, _Member] = {
        (at, number): (at, number)
        for at, component in enumerate(components)
        for number in range(len(component.record.symbols))
    }

    def root(member: _Member) -> _Member:
        while parent[member] != member:
            member = parent[member]
        return member

    def unite(one: _Member, other: _Member) -> None:
        first, second = sorted((root(one), root(other)))
        parent[second] = first

    by_name: dict[str, _Member] = {}
    for member in parent:
        name = components[member[0]].record.symbols[member[1]].name
        if name.isidentifier():  # the user's own; `x.shape[0]` is only a place
            unite(member, by_name.setdefault(name, member))
    for seam in seams:
        if seam.source == seam.target:
            continue  # a cache that grows: `past` of one call is `past + 1` of the next
        giving, taking = components[seam.source], components[seam.target]
        for flow in (flow for flow in seam.flows if flow.known_by != "part"):
            shape = find_given_type(giving, flow).shape
            taken = taking.type_of(taking.record.signature.inputs[flow.input]).shape
            for one, other in zip(shape, taken, strict=False):
                pair = symbol_of(giving.record, one), symbol_of(taking.record, other)
                if min(pair) >= 0:
                    unite((seam.source, pair[0]), (seam.target, pair[1]))
    groups: dict[_Member, list[_Member]] = {}
    for member in parent:
        groups.setdefault(root(member), []).append(member)
    return [
        _make_shared_symbol(components, members)
        for members in groups.values()
        if len({at for at, _ in members}) > 1
    ]


def _make_shared_symbol(
    components: Sequence[Component], members: Sequence[_Member]
) -> SharedSymbol:
    items = [
        SymbolMember(at, number, symbol.name, symbol.range)
        for at, number in members
        for symbol in [components[at].record.symbols[number]]
    ]
    return SharedSymbol(" / ".join(dict.fromkeys(member.name for member in items)), items)
