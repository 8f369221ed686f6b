"""Findings about numbers that two programs of one model have differently: an eps, a scale, a base.

Ops are paired by their module, their name, and which of these in that module they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.programs.component import Component
from export_engine.programs.shared_weights import of_one_model
from export_engine.record import WeightRow

_FLOAT = re.compile(r"-?\d+(\.\d*(e[+-]?\d+)?|e[+-]?\d+)")
_WORD = re.compile(r"'\w+'")
_CLOSE = 1e-9
_MASKS = 1e30
"""Numbers above are a mask's, of which any will do."""


class _Numbers(NamedTuple):
    """The constants of an op."""

    node: int
    values: tuple[float | str, ...]


_Ops = Mapping[str, Mapping[str, Sequence[_Numbers]]]
"""By module and by op, in order."""


def check_constants(
    components: Sequence[Component], rows: Sequence[WeightRow]
) -> Iterator[Finding]:
    """Constants that differ between programs, in modules whose weights they have in common."""
    ops = [_constants(component) for component in components]
    for one, other in of_one_model(rows):
        apart = list(_apart(ops[one], ops[other], _prefixes(rows, one, other)))
        if not apart:
            continue
        module, name, mine, theirs = apart[0]
        where = f"`{name}`" + (f" of `{module}`" if module else "")
        more = f"; so do {len(apart) - 1} more ops" if len(apart) > 1 else ""
        yield Finding(
            kind=Kind.SET_CONSTANT,
            severity="wrong",
            sentence=rules.SetConstant.SENTENCE(
                op=where,
                mine=_format_numbers(mine, theirs),
                one=components[one].name,
                theirs=_format_numbers(theirs, mine),
                other=components[other].name,
                more=more,
            ),
            why=rules.SetConstant.WHY(),
            component=other,
            node=theirs.node,
        )


def _constants(component: Component) -> _Ops:
    record, walk = component.record, component.walk
    groups: dict[str, dict[str, list[_Numbers]]] = {}
    for node in walk.nodes:
        name = walk.name(node)
        if not name.startswith("aten."):
            continue
        positions, names = walk.arguments(node)
        values = tuple(_value(text) for text in (*positions, *names.values()) if _is_constant(text))
        if values:
            scope = record.graphs[0].scope[node]
            module = record.scopes[scope].path if scope >= 0 else ""
            groups.setdefault(module, {}).setdefault(name, []).append(_Numbers(node, values))
    return groups


def _is_constant(text: str) -> bool:
    if _FLOAT.fullmatch(text):
        return abs(float(text)) < _MASKS
    return bool(_WORD.fullmatch(text))


def _value(text: str) -> float | str:
    return text if text.startswith("'") else float(text)


def _prefixes(rows: Sequence[WeightRow], one: int, other: int) -> tuple[str, str]:
    """The prefixes of module paths in the two programs, inferred from equal weights."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if one in row.holders and other in row.holders:
            mine, theirs = (
                row.names[row.holders.index(number)].split(".") for number in (one, other)
            )
            while mine and theirs and mine[-1] == theirs[-1]:
                mine, theirs = mine[:-1], theirs[:-1]
            counts[".".join(mine), ".".join(theirs)] += 1
    return counts.most_common(1)[0][0]


def _apart(
    ours: _Ops, theirs: _Ops, prefixes: tuple[str, str]
) -> Iterator[tuple[str, str, _Numbers, _Numbers]]:
    for module, by_name in ours.items():
        others = theirs.get(_module(module, *prefixes), {})
        for name, mine in by_name.items():
            same = others.get(name, ())
            if len(same) != len(mine):
                continue  # which is which is not known
            for one, other in zip(mine, same, strict=True):
                if not _equal(one.values, other.values):
                    yield module, name, one, other


def _module(path: str, own: str, theirs: str) -> str:
    """The path of a module in another program."""
    if own and path != own and not path.startswith(f"{own}."):
        return path
    rest = path[len(own) :].removeprefix(".")
    return ".".join(text for text in (theirs, rest) if text)


def _equal(one: tuple[float | str, ...], other: tuple[float | str, ...]) -> bool:
    if len(one) != len(other):
        return True  # an argument that has its default in one of them is not written there
    return all(
        mine == theirs
        if isinstance(mine, str) or isinstance(theirs, str)
        else abs(mine - theirs) <= _CLOSE * max(abs(mine), abs(theirs))
        for mine, theirs in zip(one, other, strict=True)
    )


def _format_numbers(mine: _Numbers, theirs: _Numbers) -> str:
    own = [
        one if isinstance(one, str) else f"{one:g}"
        for one, other in zip(mine.values, theirs.values, strict=True)
        if one != other
    ]
    return ", ".join(own)
