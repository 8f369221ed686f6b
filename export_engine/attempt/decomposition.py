"""The Level: how a program came from another by decomposition, op by op."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from export_engine.attempt.decomposition_table import DecompositionTable


@dataclass(frozen=True)
class Origin:
    """The op that a decomposed op comes from."""

    node: str
    """Its name in the program before."""
    how: Literal["provenance", "fallback"]
    """By torch's own record of it; or, where that is missing, by the same op on the same input, the
    same size, or the op that a size is computed for."""


@dataclass(frozen=True)
class Replaced:
    """What became of one kind of op."""

    op: str
    """`aten.linear.default`."""
    count: int
    """How many there were."""
    into: dict[str, int]
    """What came of all of them: ops and how many of each."""
    function: str = ""
    """The decomposition's qualified name; empty for one that is built into torch."""
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Level:
    """How a program came from another by decomposition."""

    table: DecompositionTable
    origins: dict[str, Origin] = field(default_factory=dict)
    """Per op of the program, by name."""
    untied: tuple[str, ...] = ()
    """Ops whose origin is not known."""
    replaced: tuple[Replaced, ...] = ()
