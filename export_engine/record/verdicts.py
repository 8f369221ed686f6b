"""The part of the Record with fixes, findings, checks and guarantees.

`record.py` has the rest, and says how all of it is read.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class ShapesForm(msgspec.Struct, frozen=True):
    """Shapes in one of torch's two forms."""

    name: Literal["Dims", "ShapesSpec"]
    text: str
    """In the short language; empty where this form cannot say them."""
    python: str
    """Statements to paste that make the `dynamic_shapes`; empty without a text."""
    reason: str = ""
    """Why this form cannot say them: one sentence."""


class FixCard(msgspec.Struct, frozen=True):
    """A fix, as it is offered. It is applied by its number among the failure's fixes."""

    kind: Literal["shapes", "mode", "inputs", "options", "code"]
    title: str
    """Its effect, as an imperative: `Let seq be at most 16`."""
    why: str = ""
    lossy: bool = False
    """Whether a requested dim becomes static, or an output may change."""
    narrows: bool = False
    """Whether the program rejects requested sizes that the model takes."""
    gives_up: str = ""
    before: str = ""
    after: str = ""
    diffs: list[str] = []
    """For a code fix: a unified diff per file."""
    stack: int = -1
    """The line that it concerns."""
    tried: bool = False
    """Whether the call is known to export with it."""
    forms: list[ShapesForm] = []
    """For a fix of shapes: what it asks for, in its own form first, then in the other."""


class TrialRow(msgspec.Struct, frozen=True):
    """One run of the program and of eager at sizes that it was not traced at."""

    sizes: str
    """`batch = 3, seq = 7`."""
    outcome: Literal["agrees", "differs", "refused", "eager-fails"]
    error: float
    """Largest absolute difference of any output element."""
    detail: str


class Check(msgspec.Struct, frozen=True):
    """Whether a program agrees with eager at other sizes."""

    verdict: Literal["agrees", "differs", "refused", "not checked"]
    sentence: str
    """`Agrees with eager at 4 other sizes, with differences up to 3e-07.`"""
    trials: list[TrialRow] = []


class FindingRow(msgspec.Struct, frozen=True):
    """Something wrong or surprising about an export that succeeded."""

    kind: str
    """`baked-value`, `training-mode`: see `finding.Kind`."""
    heading: str
    """`A value baked in`."""
    severity: Literal["wrong", "surprising", "note"]
    """`wrong`: the program gives other answers than the model. `surprising`: it may, or does less
    than was asked for. `note`: worth knowing before it ships."""
    sentence: str
    why: str
    stack: int = -1
    node: int = -1
    """Into graph 0."""
    guard: int = -1
    fix: int = -1
    """Its fix, as a number among `fixes` of the attempt."""
    card: FixCard | None = None
    """That fix."""
    code: str = ""
    """The stable code of its kind: `EX201`; `explorer.explain` has a page on it."""


class GuaranteeRow(msgspec.Struct, frozen=True):
    """A guarantee of torch.export, checked on this program."""

    name: str
    """`functional`: see `guarantees`."""
    claim: str
    """`No op writes to memory that it was given.`"""
    verdict: Literal["holds", "broken", "not applicable", "not checked"]
    sentence: str
    """The result: `All 1,187 ops have schemas that write to nothing.`"""
    evidence: list[str] = []
    """The evidence, a line each; if broken, the violations first."""
    node: int = -1
    """The first node that breaks it; into graph 0."""
    lacking: str = ""
    """If it cannot be checked, what is missing, such as the eager model."""
    report: str = ""
    """If the check itself failed, the report for Export Explorer."""
    code: str = ""
    """Its stable code: `EX301`; `explorer.explain` has a page on it."""


class Verification(msgspec.Struct, frozen=True):
    """The checked guarantees."""

    verdict: Literal["holds", "broken", "not checked"]
    """`broken` if one is, else `not checked` if one was not, else `holds`."""
    sentence: str
    """`10 guarantees hold, 1 is broken, 1 was not checked.`"""
    rows: list[GuaranteeRow]
    seconds: float
    trials: list[TrialRow] = []
    """The comparisons with eager: what was run at which sizes, and how it ended."""
    left_out: list[str] = []
    """Sizes that there was no time for, the most suspicious first: `batch = 64`."""
