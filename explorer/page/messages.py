"""Requests of the page and the kernel's replies: one schema for both sides.

Python's types are these Structs; TypeScript's are generated from them (`make types`). A new message
is an entry of `ASKS` (or of `LIBRARY_ASKS`, for the browser of ExportDB), a method of the same name
in `message_handlers.py`, and a function in the page that asks it, as those of `store.ts`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Struct

from explorer.text.release_verdict import Release
from export_engine.cost import CostTable
from export_engine.record import (
    ExportCase,
    GraphBreakPage,
    ProgramDiff,
    ProgramSet,
    TensorSlice,
    TextDiff,
)
from export_engine.source import Token


class OfAttempt(Struct):
    """A request about an attempt, by index."""

    attempt: int


class OfFile(OfAttempt):
    """A request about a source file of the attempt's Record."""

    file: int


class OfGraph(OfAttempt):
    """A request about a graph of the attempt's Record."""

    graph: int


class OfPair(OfAttempt):
    """A request about an attempt and an earlier one."""

    other: int


class OtherProgram(Struct):
    """A program that an attempt can be compared with."""

    name: str
    """A variable, `golden` or `kit['decode']`; or the path of a file."""
    where: Literal["kernel", "file"]
    model: str = ""
    """Which program of a file that holds several."""
    title: str = ""
    """Its description: the call, or the class of a program that the user made."""


class OtherChoice(OfAttempt):
    """A program that an attempt is to be compared with."""

    program: OtherProgram


class OtherPrograms(Struct):
    """Programs that an attempt can be compared with, besides other attempts."""

    programs: list[OtherProgram]


class FixChoice(OfAttempt):
    """Fixes of a failed attempt, by their numbers."""

    fixes: list[int]


class Hunk(Struct):
    """Lines of a text, and what is to be there instead."""

    first: int
    """1-based; without lines to replace, the new ones go before it."""
    count: int
    lines: list[str]


class CodeChange(Struct):
    """A cell or a file that is to be another. Whether and where to write it is the page's."""

    path: str
    """As Python knows it; for a cell this is not a real file."""
    name: str
    """As shown: `Cell In[3]`."""
    origin: Literal["cell", "user", "library", "torch", "generated"]
    before: str
    """The whole text that was exported."""
    hunks: list[Hunk]


class Writing(Struct):
    """Edits that write an attempt's changes into the user's code and the `%export` line."""

    changes: list[CodeChange]
    shapes: str
    """The new shapes, in the short language; empty where they stay."""
    cell: str
    """The text of the cell whose `%export` made the first attempt; empty if not known."""
    call: str
    """The call of that line."""
    others: list[str]
    """Further requirements of the attempt, which are not written."""


class SizeCount(OfAttempt):
    """Number of sizes to compare with eager."""

    sizes: int


class TableChoice(OfAttempt):
    """A decomposition table in the short language: `core -linear`."""

    table: str


class ProfileRequest(OfAttempt):
    """Where to run an attempt's program, and with what."""

    device: str
    sizes: dict[str, int] | None = None
    """Values of symbols by their names; null: the example's inputs."""


class StagesRequest(OfAttempt):
    """By what to compile an attempt's program, and where it runs."""

    backend: str
    device: str
    options: dict[str, bool] = {}
    """Options of the compiler, on or off: `max_autotune`."""


class DelegateRequest(OfAttempt):
    """A delegation backend for an attempt's program."""

    backend: str
    measure: bool = False
    """Whether the lowered program also runs, so that its ops are timed."""


class DelegationFixChoice(DelegateRequest, kw_only=True):
    """Rewrites that bring ops into a delegate."""

    kinds: str
    """Of one fix, as the Record has it; empty for all together that are lossless and gain."""


class RunRequest(ProfileRequest, kw_only=True):
    """The same, and by which backends."""

    backends: list[str]


class ValuesAgainst(OfAttempt):
    """Another run to hold a program's run against."""

    other: str
    """`eager`, `decomposed`, `original`, a dtype or a device."""


class GuideChoice(Struct):
    """The number of a choice in a guide."""

    number: int


class GenerateRequest(Struct):
    """How a set of programs is to generate."""

    backend: str


class TensorRequest(OfGraph):
    """A node's output, and the part of it to show; see `export_engine.values.slice_tensor`."""

    node: int
    side: Literal["one", "other", "difference"]
    """`one`: the program's own. The others are of two runs that were held against each other."""
    rows: int = -2
    columns: int = -1
    index: list[int] = []
    cell: list[int] = []


class ByName(Struct):
    """A request about something by name."""

    name: str


class Nothing(Struct):
    """A request without arguments."""


class CaseText(Struct):
    """A text of a case, as the user edited it."""

    source: str


class CaseTrial(CaseText):
    """A text of a case to run and export."""

    name: str


class Lines(Struct):
    """Highlighted source."""

    lines: list[list[Token]]


class Code(Lines):
    """A printed graph."""

    nodes: list[int]
    """Per line, the node that it defines, or -1."""


class Ops(Struct):
    """Names of ops."""

    ops: list[str]


class NewAttempt(Struct):
    """The index of the new attempt."""

    attempt: int


class Autofixed(NewAttempt):
    """The attempt that fixes led to."""

    report: str
    """The applied fixes, as a sentence."""


class ContractsCompared(NewAttempt):
    """The attempt at the same call in the other form of shapes."""

    exported: bool
    lines: list[str]
    """How both contracts differ, as text."""


class Sentence(Struct):
    """A message for the user; may be empty."""

    sentence: str


class ReproducedScript(Lines):
    """A script that fails as the attempt does, highlighted."""

    sentence: str
    script: str
    issue: str
    """The text of an issue, with versions."""


class BackendHere(Struct):
    """A backend on the kernel's machine."""

    name: str
    title: str
    missing: list[str | None]
    """Per device, why it cannot run there; null if it can."""
    without_values: str | None
    """Why it tells no values of ops, to be compared op by op; null if it does."""


class DelegateHere(Struct):
    """A delegation backend on the kernel's machine."""

    name: str
    title: str
    missing: str | None
    """Why it cannot be asked here; null if it can."""


class Setups(Struct):
    """Backends and devices of the kernel's machine."""

    devices: list[str]
    backends: list[BackendHere]
    delegates: list[DelegateHere] = []


class CasePage(Lines):
    """A case of ExportDB, its source highlighted."""

    case: ExportCase


class BreakPage(Struct):
    """A page of torch's registry of graph breaks."""

    page: GraphBreakPage


class CodeText(Lines):
    """The page on a stable code, its example highlighted."""

    code: str
    title: str
    means: str
    cure: str
    why: str


class CaseList(Struct):
    """All cases, and the version of torch that they are of."""

    cases: list[ExportCase]
    torch: str


class BreakList(Struct):
    """All pages on graph breaks."""

    pages: list[GraphBreakPage]


class CaseTried(Struct):
    """The result of trying a text."""

    problem: str
    """Why it cannot be run; empty if it ran."""
    line: int = 0
    """The line of the problem, from 1; 0 if there is none."""
    lookouts: list[tuple[str, str]] = []
    """A pane of the view, and what to look at there."""


class AttemptHead(Struct):
    """Facts about an attempt that a view has before its Record arrives."""

    label: str
    """`non-strict`, `strict`, or another label that tells attempts apart."""
    outcome: Literal["exported", "failed"]
    verdict: str
    parent: int
    """Index of the attempt that it came from; -1 for the first."""
    step: str
    """The step that led here; empty for the first."""
    revision: int
    """Incremented when results are added to the attempt: its Record has changed."""
    untrusted: bool = False
    """Whether it is a file opened as data, whose program is not loaded until it is trusted."""
    release: Release | None = None
    """Its verdict, claim by claim, and whether it can be shipped."""
    name: str = ""
    """The variable of the user that holds the result; empty for none."""


class GeneratingBackend(Struct):
    """Backends that a set can generate with."""

    name: str
    title: str
    missing: str | None
    """Why it cannot run here; null if it can."""


class SetState(Struct):
    """The set of programs that the attempts of a view are of."""

    set: ProgramSet
    attempts: list[int]
    """Per program, the attempt that it has."""
    backends: list[GeneratingBackend] = []
    """Backends it can generate with; empty for a set not cut from `generate()`, or a report."""


class Frozen(Struct):
    """The data of a page without a kernel: every reply it would need. `report.py` makes it."""

    attempts: list[AttemptHead]
    current: int
    compared: int
    """The attempt that it is compared with from the start; -1 for none."""
    records: list[str]
    """Per attempt, the Record's bytes in base64."""
    sources: list[list[list[list[Token]] | None]]
    """Per attempt, the text of each of its files; null where it is not available."""
    codes: list[list[Code]]
    """Per attempt, each of its graphs as text."""
    diffs: list[list[ProgramDiff | None]]
    """Per attempt, how it differs from each other one; null where there is nothing to compare."""
    texts: list[list[list[TextDiff] | None]]
    """The same of their texts."""
    pages: dict[str, CodeText]
    """The pages on the codes in the Records."""
    programs: SetState | None = None
    """The set, for a report of a set of programs."""
    costs: list[CostTable | None] = []
    """Per attempt, what its program costs; null where there is none."""


class Message(NamedTuple):
    """A request and its reply."""

    request: type[Struct]
    reply: Any
    """A type. Bytes go as a buffer beside the message."""
    says: str
    """Its effect, for the caller."""
    acts: bool = False
    """Whether it runs the user's code, and so runs in the interruptible main thread."""


ASKS = {
    "record": Message(OfAttempt, bytes, "The bytes of a Record, for `wire.decode`."),
    "source": Message(OfFile, Lines, "The text of a source file of the Record."),
    "code": Message(OfGraph, Code, "A graph as torch prints it."),
    "cost": Message(OfAttempt, CostTable, "The cost of a program, as formulas of its sizes."),
    "decomposable": Message(OfAttempt, Ops, "The ops that torch's default table decomposes."),
    "diff": Message(OfPair, ProgramDiff, "How the programs of two attempts differ."),
    "texts": Message(OfPair, list[TextDiff], "Source files and printed graphs that differ."),
    "setups": Message(
        OfAttempt, Setups, "The devices of the kernel's machine, and what runs there."
    ),
    "case": Message(ByName, CasePage, "A case of ExportDB."),
    "break": Message(ByName, BreakPage, "A page of torch's registry of graph breaks."),
    "explain": Message(ByName, CodeText, "The page on a stable code."),
    "others": Message(
        OfAttempt,
        OtherPrograms,
        "Programs of the kernel, and files of its folder, that a program can be compared with.",
    ),
    "beside": Message(
        OtherChoice,
        NewAttempt,
        "Opens another program to compare with; the current attempt does not change.",
        acts=True,
    ),
    "apply": Message(
        FixChoice,
        NewAttempt,
        "Applies fixes together. If that fails or is interrupted, the current attempt does not "
        "change.",
        acts=True,
    ),
    "writing": Message(
        FixChoice,
        Writing,
        "The edits that write an attempt and its fixes into the user's code. Writes nothing.",
    ),
    "autofix": Message(
        OfAttempt, Autofixed, "Applies lossless fixes until one exports or none is left.", acts=True
    ),
    "reproduce": Message(
        OfAttempt, ReproducedScript, "Writes a short script that fails the same way.", acts=True
    ),
    "verify": Message(
        SizeCount, Sentence, "Checks the guarantees and adds them to the Record.", acts=True
    ),
    "run": Message(
        RunRequest,
        Sentence,
        "Runs the program and eager, and adds rows to the Record. Returns why it ended early.",
        acts=True,
    ),
    "profile": Message(
        ProfileRequest, None, "Measures the time of each op and adds it to the Record.", acts=True
    ),
    "stages": Message(
        StagesRequest,
        None,
        "Compiles the program, times its kernels and adds both to the Record.",
        acts=True,
    ),
    "delegate": Message(
        DelegateRequest,
        None,
        "Lowers a copy of the program for a backend and adds the result to the Record.",
        acts=True,
    ),
    "can_take": Message(
        OfAttempt,
        None,
        "Asks every backend which ops it can take and adds the table to the Record.",
        acts=True,
    ),
    "delegation_fixes": Message(
        DelegateRequest,
        None,
        "Tries rewrites that bring ops into a delegate and adds those that help to the Record.",
        acts=True,
    ),
    "fix_delegation": Message(
        DelegationFixChoice,
        Autofixed,
        "Rewrites ops that a delegate leaves, lowers again and compares with eager.",
        acts=True,
    ),
    "watch": Message(
        ProfileRequest, None, "Records the value of every op in the Record.", acts=True
    ),
    "against": Message(
        ValuesAgainst,
        Sentence,
        "Compares a run with another and adds the result to the Record.",
        acts=True,
    ),
    "tensor": Message(
        TensorRequest, TensorSlice, "Part of an op's output; the program runs again.", acts=True
    ),
    "decompose": Message(TableChoice, NewAttempt, "Decomposes the program by a table.", acts=True),
    "contracts": Message(
        OfAttempt,
        ContractsCompared,
        "Exports the call with its shapes in the other form, Dims or a ShapesSpec, and compares.",
        acts=True,
    ),
    "generate": Message(
        GenerateRequest,
        Sentence,
        "Generates with the programs of a set and with the model, and adds the trials to the set.",
        acts=True,
    ),
    "trust": Message(
        OfAttempt, None, "Trusts an opened file: loads its program, which runs its code.", acts=True
    ),
    "use": Message(
        OfAttempt, None, "Makes an attempt the current one of the kernel: `ex.program`.", acts=True
    ),
}
"""Requests of any view to a session. A refusal rejects with a sentence."""

LIBRARY_ASKS = {
    "cases": Message(Nothing, CaseList, "All cases of the installed torch."),
    "breaks": Message(Nothing, BreakList, "All pages on graph breaks."),
    "colour": Message(CaseText, Lines, "Highlights Python. Nothing is run."),
    "try": Message(
        CaseTrial, CaseTried, "Runs a case's text and exports its call in both modes.", acts=True
    ),
}
"""Requests of the browser of ExportDB, in addition to those of any view."""

GUIDE_ASKS = {
    "take": Message(GuideChoice, None, "Makes a choice and continues the guide.", acts=True),
}
"""Requests of the buttons below a guide."""
