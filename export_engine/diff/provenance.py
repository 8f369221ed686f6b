"""Which ops of a decomposed program torch made from which op of the program before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from export_engine.diff.side import Side
from export_engine.record import OPS
from export_engine.source import items_of

_CALL = OPS.index("call_function")


class Group(NamedTuple):
    """Ops of one program that torch made from those of the other, or the other way round."""

    before: list[int]
    after: list[int]


def provenance(before: Side, after: Side) -> list[Group]:
    """The known replacements; none unless one is made of the other, as by a decomposition."""
    return [
        *(Group([old], new) for old, new in _find_origins(before, after).items()),
        *(Group(old, [new]) for new, old in _find_origins(after, before).items()),
    ]


def _find_origins(before: Side, after: Side) -> dict[int, list[int]]:
    """Per op of the first main graph, the ops of the second that were made from it.

    Empty if the second is a decomposition, and not of the first: an op that it comes from is not
    there. For a given program, an op counts whose name and line are there.
    """
    level = after.record.level
    graph, old = after.record.graphs[0], before.record.graphs[0]
    numbers = {
        before.name(old, node): node for node in range(len(old.name)) if old.op[node] == _CALL
    }
    groups: dict[int, list[int]] = {}
    if level is None:
        return _find_given_origins(before, after, numbers)
    for node, origin in enumerate(level.origins[: len(graph.name)]):
        if origin < 0 or graph.op[node] != _CALL:
            continue
        source = numbers.get(after.record.strings[origin])
        if source is None:
            return {}
        groups.setdefault(source, []).append(node)
    return groups


def _find_given_origins(
    before: Side, after: Side, numbers: Mapping[str, int]
) -> dict[int, list[int]]:
    """As `_find_origins`, by the names that torch noted, the latest that is there.

    Args:
        before: the first program.
        after: the second.
        numbers: the ops of the first main graph, by name.
    """
    record, groups = after.record, dict[int, list[int]]()
    if record.origins is None:
        return groups
    graph, old = record.graphs[0], before.record.graphs[0]
    for node, op in enumerate(graph.op):
        if op != _CALL:
            continue
        names = (record.strings[name] for name in items_of(record.origins, node))
        line = after.line(graph, node)
        for source in (numbers[name] for name in names if name in numbers):
            if line is not None and before.line(old, source) == line:
                groups.setdefault(source, []).append(node)
                break
    return groups
