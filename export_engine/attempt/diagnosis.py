"""The Diagnosis of a failed attempt: what kind of failure, where, why, and what explains it.

Plain values only. `diagnose` makes them, one small module per family of failures; `fixes` reads
them; `describe.failure` puts them into the Record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from export_engine.rules import Kind
from export_engine.source import Span, Stack


@dataclass(frozen=True)
class Related:
    """A related place: the line of a guard, where a number was computed."""

    text: str
    """The event there, as a phrase: `asks that batch <= 16`."""
    stack: Stack


@dataclass(frozen=True)
class Link:
    """Where to read more."""

    kind: Literal["exportdb", "graph-break", "docs"]
    name: str
    """An ExportDB case, a graph break's id (`GB0170`), or a page's title."""
    text: str
    """Its explanation in a few words; for a graph break, torch's own."""
    url: str = ""


@dataclass(frozen=True)
class Facts:
    """Facts for fixes, besides the place of a failure; a class for each family."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Why an export failed, in the user's terms."""

    kind: Kind
    sentence: str
    """One plain sentence: what does not work, with the user's names of arguments and dims."""
    why: str = ""
    """The reason, in a sentence or two, for someone new to torch.export."""
    stack: Stack = ()
    """The user's frames at the failing line, the outermost call first; empty if not known."""
    span: Span | None = None
    """The sub-expression in the innermost frame of `stack`."""
    related: tuple[Related, ...] = ()
    links: tuple[Link, ...] = ()
    facts: Facts | None = field(default=None, compare=False)
    """The family's facts; None if it has nothing to add."""

    @property
    def known(self) -> bool:
        """Whether the kind of failure is known."""
        return self.kind is not Kind.UNKNOWN
