"""The Finding: something wrong or surprising about an exported program, or between programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from export_engine.rules import Kind, Severity
from export_engine.source import Stack

if TYPE_CHECKING:
    from export_engine.attempt.fix import Fix


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
    component: int = -1
    """For a set of programs, the one that has `node`."""
    sizes: tuple[str, ...] = ()
    """The sizes that it is about, `n = 1`: Verify decides it where it has compared them."""
    seam: int = -1
    """For a set of programs, the connection."""

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """All of its fixes, the best first."""
        return (self.fix, *self.more) if self.fix is not None else ()
