"""The part of the Record that says why an export failed.

`record.py` has the rest, and says how all of it is read.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from export_engine.record.verdicts import FixCard


class Related(msgspec.Struct, frozen=True):
    """A place related to a failure."""

    text: str
    """The event there, as a phrase: `asks that batch <= 16`."""
    stack: int = -1


class Link(msgspec.Struct, frozen=True):
    """Where a failure is explained."""

    kind: Literal["exportdb", "graph-break", "docs"]
    name: str
    text: str
    url: str = ""


class Failure(msgspec.Struct, frozen=True):
    """Why an export failed, and what may help."""

    error: str
    """Class of the exception: `GuardOnDataDependentSymNode`."""
    kind: str
    """Heading: `A branch on data`."""
    known: bool
    """False if the kind of failure is unknown."""
    sentence: str
    """The first thing to show: one plain sentence."""
    why: str
    """The reason, for someone new to torch.export; may be empty."""
    message: str
    """torch's own text, in full."""
    traceback: str
    """The whole traceback as text."""
    stack: int = -1
    """The user's frames at the failing line; into `Record.stacks`."""
    span: list[int] = []
    """The sub-expression in the innermost frame: line, column, end line, end column. Lines from 1,
    columns from 0 in characters, the end excluded. Empty: not known."""
    related: list[Related] = []
    links: list[Link] = []
    fixes: list[FixCard] = []
    code: str = ""
    """The stable code of its kind: `EX111`; `explorer.explain` has a page on it."""
