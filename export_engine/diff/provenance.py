"""Which ops of a decomposed program torch made from which op of the program before."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.diff.side import Side
from export_engine.record import OPS

_CALL = OPS.index("call_function")


class Group(NamedTuple):
    """Ops of one program that torch made from those of the other, or the other way round."""

    before: list[int]
    after: list[int]


def provenance(before: Side, after: Side) -> list[Group]:
    """The known replacements; none unless one is a decomposition of the other."""
    return [
        *(Group([old], new) for old, new in _find_origins(before, after).items()),
        *(Group(old, [new]) for new, old in _find_origins(after, before).items()),
    ]


def _find_origins(before: Side, after: Side) -> dict[int, list[int]]:
    """Per op of the first main graph, the ops of the second that were made from it.

    Empty unless the second is a decomposition of the first: every op it comes from is there.
    """
    level = after.record.level
    if level is None:
        return {}
    graph, old = after.record.graphs[0], before.record.graphs[0]
    numbers = {
        before.name(old, node): node for node in range(len(old.name)) if old.op[node] == _CALL
    }
    groups: dict[int, list[int]] = {}
    for node, origin in enumerate(level.origins[: len(graph.name)]):
        if origin < 0 or graph.op[node] != _CALL:
            continue
        source = numbers.get(after.record.strings[origin])
        if source is None:
            return {}
        groups.setdefault(source, []).append(node)
    return groups
