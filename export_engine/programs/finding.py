"""A finding between programs, before it is a row of the set."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from export_engine.programs.component import Component
from export_engine.programs.op_walk import Walk
from export_engine.record import SetFinding
from export_engine.source import innermost_own

Severity = Literal["wrong", "surprising", "note"]
SEVERITIES: tuple[Severity, ...] = ("wrong", "surprising", "note")
"""Most severe first."""


class Kind(StrEnum):
    """The kind of finding. The value is the view's heading."""

    SIZES = "Sizes that disagree"
    DTYPES = "Dtypes that disagree"
    RANGES = "Ranges that do not meet"
    STATE = "A buffer that one program updates and another does not see"
    MUTATED = "A tensor that one program mutates and another reads"
    IN_PLACE = "A cache that a program writes in place and does not return"
    MISSING = "A cache tensor that no program gives"
    LOST = "A cache that a program adds to and does not return"
    UNUSED = "A cache tensor that no program takes"
    ORDER = "Cache tensors that change places"
    ROUNDED = "A tensor that is rounded between programs"
    WEIGHTS = "A weight that differs between programs"
    TIED = "Weights that are tied in one program and not in another"
    COPIES = "Weights that are stored more than once"
    CONSTANT = "A constant that differs between programs"
    LENGTH = "A length baked in"
    POSITION = "A position baked in"
    SHIFT = "Positions that do not go on where the last call ended"
    ARGUMENT = "An argument baked in that calls change"
    QUANTIZATION = "Quantization parameters that disagree"


@dataclass(frozen=True, kw_only=True)
class Between:
    """Something wrong or surprising between programs."""

    kind: Kind
    severity: Severity
    sentence: str
    why: str
    component: int = -1
    node: int = -1
    """In the component's main graph."""
    seam: int = -1


def as_row(found: Between, components: list[Component]) -> SetFinding:
    """A finding as the set has it, with the line of its op."""
    stack, place = -1, ""
    if found.component >= 0 and found.node >= 0:
        record = components[found.component].record
        stack = _line_near(components[found.component].walk, found.node)
        frame = innermost_own(record, stack)
        place = f"{frame.name}:{frame.line}" if frame else ""
    return SetFinding(
        kind=found.kind.name.lower(),
        heading=found.kind.value,
        severity=found.severity,
        sentence=found.sentence,
        why=found.why,
        component=found.component,
        node=found.node,
        stack=stack,
        place=place,
        seam=found.seam,
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
        waiting += [each for each in walk.readers(at) if each not in seen]
    return -1
