"""torch's own explanations as plain data: ExportDB's cases and graph break pages.

A browser shows them; none of it is part of a Record of an attempt.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class CaseInput(msgspec.Struct, frozen=True):
    """One input of a case's call."""

    path: str
    """`x`, `tuple0.1`."""
    text: str
    """`f32[3, 2]`, or the value of a non-tensor."""


class ExportCase(msgspec.Struct, frozen=True):
    """A case of ExportDB."""

    name: str
    """torch's name: `cond_operands`."""
    title: str
    """The first sentence of its description."""
    description: str
    tags: list[str]
    level: Literal["supported", "not supported yet"]
    """torch's declaration."""
    source: str
    """The text of its module, which defines `model` and `example_args`."""
    inputs: list[CaseInput]
    shapes: str
    """Its dynamic shapes in the short language; empty: all sizes are static."""
    explains: list[str]
    """The kinds of failure whose diagnosis links here, as a view shows them."""


class ModeOutcome(msgspec.Struct, frozen=True):
    """The result of a case in one mode."""

    mode: Literal["non-strict", "strict"]
    outcome: Literal["agrees", "differs", "failed"]
    """Exported and agrees with eager; exported and differs; not exported."""
    sentence: str
    seconds: float


class CaseCheck(msgspec.Struct, frozen=True):
    """torch's declaration on a case, next to its behaviour."""

    name: str
    level: Literal["supported", "not supported yet"]
    outcomes: list[ModeOutcome]
    as_declared: bool
    """Whether both modes behave as declared:

    a supported case exports and agrees with eager, an unsupported one fails.
    """


class GraphBreakPage(msgspec.Struct, frozen=True):
    """A page of torch's registry of graph breaks."""

    name: str
    """`GB0170`."""
    title: str
    """torch's name of the kind: `Data-dependent branching`."""
    explanations: list[str]
    """torch's own words, per version of them; `<name>` is filled in while torch runs."""
    hints: list[str]
    contexts: list[str]
    """torch's context of the break, likewise."""
    url: str
    """The same on the web."""
