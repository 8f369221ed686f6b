"""The Level: the origin of a decomposed program, op by op."""

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
    """By torch's own provenance;

    else by the same op on the same input, the same size, or the op that a size is computed for.
    """


@dataclass(frozen=True)
class Replaced:
    """How one kind of op was decomposed."""

    op: str
    """`aten.linear.default`."""
    count: int
    """How many there were."""
    into: dict[str, int]
    """The resulting ops and their counts."""
    function: str = ""
    """The decomposition's qualified name; empty for one that is built into torch."""
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Level:
    """The origin of a decomposed program."""

    table: DecompositionTable
    origins: dict[str, Origin] = field(default_factory=dict)
    """Per op of the program, by name."""
    untied: tuple[str, ...] = ()
    """Ops of unknown origin."""
    replaced: tuple[Replaced, ...] = ()
