"""The Record: everything a view shows of one attempt, as plain data in one schema.

The engine's `describe` functions produce it; the widget, the HTML report, the command line and the
tests read it. It holds no tensor, no module and no torch object, and it does not know how it is
drawn. Strings that repeat, call stacks, value types and operators are kept once in tables at the
top; a graph's nodes are columns of small integers that point into those tables. `-1` in a column
means "none".

`wire.py` turns a Record into bytes and into JSON, `typescript.py` turns this schema into
TypeScript types.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from export_engine.record.contract import Event, Guard, Probe, Symbol
from export_engine.record.decomposition import LevelRow
from export_engine.record.delegation import Delegation, OpTable
from export_engine.record.failure import Failure
from export_engine.record.graph import (
    Expression,
    Frames,
    Graph,
    Ragged,
    Scope,
    SourceFile,
    Target,
    ValueType,
)
from export_engine.record.overlays import Overlay
from export_engine.record.quantization import Quantization
from export_engine.record.runs import Profile, RunRow
from export_engine.record.signature import Signature
from export_engine.record.stages import Stages
from export_engine.record.values import ValuePairs, Values
from export_engine.record.verdicts import Check, FindingRow, Verification

SCHEMA_VERSION = 3


class Timing(msgspec.Struct, frozen=True):
    """Seconds, by the wall clock."""

    capture: float


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a view shows of one attempt."""

    schema: int = SCHEMA_VERSION
    title: str
    """The call as the user wrote it, `model(x)`, or the file it was loaded from."""
    outcome: Literal["exported", "failed"]
    mode: Literal["strict", "non-strict", "loaded", "given"]
    """`loaded` from a file; `given`: a program that the user had already."""
    verdict: str
    """One line: `exported, non-strict, 1,187 ops, batch in [2, ∞)`."""
    shapes: str
    """The dynamic shapes asked for, in the short language."""
    other_form: Literal["", "Dims", "ShapesSpec"] = ""
    """For an export that asked for dynamic shapes: the other form of shapes that this torch has."""
    torch_version: str
    timing: Timing | None = None
    warnings: list[str] = []
    """Warnings of torch and the model while tracing, and notes on a loaded program."""
    left_out: list[str] = []
    """Sentences on what the view lacks because this torch lacks it."""
    printed: str = ""
    """The model's output while tracing."""
    strings: list[str] = []
    targets: list[Target] = []
    types: list[ValueType] = []
    expressions: list[Expression] = []
    scopes: list[Scope] = []
    files: list[SourceFile] = []
    sources_inside: bool = False
    """For a Record from an archive:

    the text of `files` is inside or missing, and their paths are never opened.
    """
    frames: Frames
    stacks: Ragged
    """Per stack, indices into `frames`, the outermost call first."""
    graphs: list[Graph] = []
    """The main graph first; empty for a failure that left no partial graph."""
    signature: Signature = Signature([], [])
    symbols: list[Symbol] = []
    guards: list[Guard] = []
    timeline: list[Event] = []
    """Events of the symbols, in order; empty for a loaded program that keeps none."""
    probe: Probe = Probe([], [], [])
    """The program's size rules, to try sizes without running it."""
    failure: Failure | None = None
    fixed_by: list[str] = []
    """Titles of the fixes that led from the first attempt to this one, in order."""
    given_up: list[str] = []
    """The costs of these fixes, one sentence each."""
    fixed_code: list[str] = []
    """The source edits in effect, a unified diff per file."""
    check: Check | None = None
    level: LevelRow | None = None
    """For a decomposed program: its origin."""
    origins: Ragged | None = None
    """For a given program that is not as exported: per node of graph 0, the names of the nodes that
    it comes from, the latest first; into `strings`."""
    findings: list[FindingRow] = []
    """What is wrong or surprising about an export that succeeded, most severe first."""
    not_looked_for: list[str] = []
    """Headings of the findings that may be there all the same: what is at hand does not tell."""
    verification: Verification | None = None
    """The guarantees, if checked."""
    runs: list[RunRow] = []
    """The runs, oldest first."""
    profile: Profile | None = None
    """The profile, if measured."""
    stages: list[Stages] = []
    """Compilations of the program, oldest first."""
    delegations: list[Delegation] = []
    """The delegations of the program, the last of each backend."""
    op_table: OpTable | None = None
    """Which ops which backends can take, if they were asked."""
    values: Values | None = None
    """Statistics of a run op by op, if one was watched. No file keeps them unless asked to."""
    pairs: ValuePairs | None = None
    """Two runs held against each other, if any were; kept as `values` are."""
    quantization: Quantization | None = None
    """The quantized part of the main graph; None if nothing is."""
    overlays: list[Overlay] = []
    """Overlays of the user on nodes; files keep them."""


def codes_in(record: Record) -> list[str]:
    """The stable codes in a Record: of its failure, its findings and its guarantees, in order."""
    rows = record.verification.rows if record.verification else []
    failure = [record.failure.code] if record.failure else []
    texts = [*failure, *(finding.code for finding in record.findings), *(row.code for row in rows)]
    return [text for text in dict.fromkeys(texts) if text]
