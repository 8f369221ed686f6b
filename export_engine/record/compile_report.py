"""torch.compile and torch.export compared on one call, as plain data."""

from __future__ import annotations

from typing import Literal

import msgspec


class CodePlace(msgspec.Struct, frozen=True):
    """A line of the user's code."""

    file: str
    """As shown: `Cell In[3]`, `model.py`."""
    line: int
    function: str
    text: str


class CompiledGraph(msgspec.Struct, frozen=True):
    """A graph that torch.compile cut out of the code. Numbered from 1 in order of compilation."""

    place: CodePlace | None
    """Where it begins: the function, or the line after a gap."""
    inputs: list[str]
    """The call's own: `x: f32[x.shape[0], 8]`."""
    sizes: list[str]
    """The sizes that vary in it, with their ranges: `x.shape[0] in [2, 1024]`. Empty: it is for the
    sizes that it was made at alone."""
    ops: list[str]
    code: str
    """The graph as torch prints it."""
    ended_by: int = -1
    """The gap that ends it, an index into `CompileReport.gaps`; -1 at the end of the function."""


class Gap(msgspec.Struct, frozen=True):
    """Why torch.compile leaves the graph: the interpreter continues from there."""

    reason: str
    """torch's name of the kind: `Data-dependent branching`."""
    explanation: str
    hints: list[str]
    page: str
    """Its page in torch's registry, `GB0170`; empty where it has none."""
    places: list[CodePlace]
    """The user's frames, the outermost first."""


class Recompile(msgspec.Struct, frozen=True):
    """A guard of a graph that a call did not meet."""

    graph: int
    """The first graph that was compiled for the function under this guard; 0: not known."""
    guard: str
    """In the user's terms: `x.shape[0] == 512`."""
    place: CodePlace | None
    """The line that asked, where one did."""


class Step(msgspec.Struct, frozen=True):
    """One of the pieces that a call ran through, in order."""

    kind: Literal["graph", "gap"]
    number: int
    """For a graph its number from 1; for a gap an index into `CompileReport.gaps`."""


class CompiledCall(msgspec.Struct, frozen=True):
    """One call at some sizes, and both sides' results."""

    sizes: str
    """`x.shape[0] = 512`; empty for the example itself."""
    outcome: Literal["compiled", "recompiled", "reused", "interpreted", "failed"]
    """`interpreted`: no graph ran, torch.compile left all of it to the interpreter."""
    made: list[int]
    """The graphs that were compiled for it."""
    recompiles: list[Recompile]
    """The guards that no longer held, the newest graph's first."""
    steps: list[Step]
    detail: str
    """For a failure, what was raised; of an interpreted call, why, where that is known."""
    export: Literal["takes", "refuses", "unchecked", "no program"]
    """`unchecked`: outside the contract, but let through; nothing is promised."""
    rule: str
    """The rule that rejects it: `x.shape[0] <= 1024`."""
    rule_place: CodePlace | None = None


class CompileReport(msgspec.Struct, frozen=True):
    """Both sides."""

    title: str
    torch_version: str
    graphs: list[CompiledGraph]
    gaps: list[Gap]
    calls: list[CompiledCall]
    verdict: str
    """The verdict of the export."""
    exported: bool
    contract: list[str]
    """The export's sizes and guards: `x.shape[0] in [2, 1024]`."""
    sentence: str
    """Why there is no program; empty where there is one."""
    sentence_place: CodePlace | None = None
