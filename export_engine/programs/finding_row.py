"""A finding between programs as a row of the set."""

from __future__ import annotations

from export_engine.attempt import Finding
from export_engine.programs.component import Component
from export_engine.programs.op_walk import Walk
from export_engine.record import SetFinding
from export_engine.source import find_last_user_frame


def as_row(found: Finding, components: list[Component]) -> SetFinding:
    """A finding as the set has it, with the line of its op."""
    stack, place = -1, ""
    if found.component >= 0 and found.node >= 0:
        record = components[found.component].record
        stack = _line_near(components[found.component].walk, found.node)
        frame = find_last_user_frame(record, stack)
        place = f"{frame.name}:{frame.line}" if frame else ""
    return SetFinding(
        kind=found.kind.slug.replace("-", "_"),
        heading=found.kind.value,
        severity=found.severity,
        sentence=found.sentence,
        why=found.why,
        component=found.component,
        node=found.node,
        stack=stack,
        place=place,
        seam=found.seam,
        code=found.kind.code,
    )


def _line_near(walk: Walk, node: int) -> int:
    """The stack of a node, or of the first op that reads it: an input has no line of its own."""
    waiting = [node]
    seen: set[int] = set()
    while waiting:
        at = waiting.pop(0)
        if walk.stack(at) >= 0:
            return walk.stack(at)
        seen.add(at)
        waiting += [reader for reader in walk.readers(at) if reader not in seen]
    return -1
