"""The Finding: something wrong or surprising about an export that succeeded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from export_engine.codes import code_of
from export_engine.source import Stack

if TYPE_CHECKING:
    from export_engine.attempt import Fix

Severity = Literal["wrong", "surprising", "note"]
SEVERITIES: tuple[Severity, ...] = ("wrong", "surprising", "note")
"""Most severe first."""


class Kind(StrEnum):
    """The kind of finding. The value is the view's heading."""

    BAKED_VALUE = "A Python value baked in"
    OUTSIDE_VALUE = "A value from outside of the model"
    BAKED_ARGUMENT = "An argument baked in"
    UNUSED_INPUT = "An input that nothing reads"
    FIXED_SIZE = "A dynamic size was specialized"
    HIDDEN_CONDITION = "A guard that the ranges do not show"
    OVERLAPPING_INPUTS = "Inputs that overlap in memory"
    WRITTEN_INPUT = "An input that is mutated"
    SHARED_INPUT = "One tensor passed as several inputs"
    STATE_CHANGED = "A side effect that the program lacks"
    FROZEN_TENSOR = "A tensor baked in"
    WRITTEN_CONSTANT = "A write into a constant"
    FROZEN_PARAMETER = "A parameter turned into a constant"
    TIED_WEIGHTS = "Weight tying is lost"
    TRAINING_MODE = "Left in training mode"
    DEVICE_BAKED = "A device baked in"
    DTYPE_BAKED = "A dtype baked in"
    RUNTIME_CHECK = "A check at run time"
    RANDOM = "Random numbers"
    SYNCHRONISES = "A device synchronization"
    PREDICATE = "A predicate of several elements"
    CAUGHT_ERROR = "A tracing error that the code caught"
    NAME_TAKEN = "A name that a GraphModule has itself"
    WRONG_SIZE = "Wrong at a size"
    CONTEXT = "A context around the export"
    ALIASED_BUFFERS = "A buffer under several names that is written"

    @property
    def code(self) -> str:
        """Its stable code: `EX201`."""
        return code_of("finding", self.name)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A finding: what, where, why it matters, and a fix."""

    kind: Kind
    severity: Severity
    """`wrong`:

    the program differs from the model. `surprising`: it may, or does less than requested. `note`:
    worth knowing before it ships.
    """
    sentence: str
    """One plain sentence in the user's terms; code between backticks."""
    why: str
    stack: Stack = ()
    """The user's line."""
    node: int = -1
    """The op, as its position in the main graph."""
    guard: int = -1
    """The guard that caused it, by its number in the Record."""
    fix: Fix | None = None
    decided_by: str = ""
    """The guarantee of Verify that tells by running whether it matters: `state`."""
    more: tuple[Fix, ...] = ()
    """Other fixes, each instead of the first."""

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """All of its fixes, the best first."""
        return (self.fix, *self.more) if self.fix is not None else ()
