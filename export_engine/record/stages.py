"""Stages of a program's compilation after export, as the Record has them."""

from __future__ import annotations

from array import array
from typing import Literal

import msgspec

from export_engine.record.graph import Column, Ragged

STAGES_VERSION = 1


class StageGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A graph between the exported program and its kernels. Columns have one entry per op."""

    name: Literal["decomposed", "post-grad", "runtime"]
    """`runtime`: the nodes that a runtime runs, which are its kernels."""
    text: str
    """As torch prints it."""
    ops: list[str]
    """Names of the ops."""
    targets: list[str]
    """The target of each: `aten.addmm.default`."""
    types: list[str]
    """As printed, with strides: `f32[32, 64][64, 1]cpu`; empty for several values."""
    line: Column
    """1-based, in `text`."""
    nodes: Ragged
    """Per op, the nodes of the Record's main graph that it comes from."""
    inputs: list[str] = []
    """Names of its inputs, parameters among them."""
    input_types: list[str] = []
    """As printed, like `types`."""
    input_nodes: Column = msgspec.field(default_factory=lambda: array("i"))
    """Per input, the Record's placeholder that it is; -1 where that is not certain."""
    reads: Ragged = msgspec.field(default_factory=lambda: Ragged(array("i", [0]), array("i")))
    """Per op, the values that it reads: inputs by number, then ops, counted on from the inputs."""
    outputs: Column = msgspec.field(default_factory=lambda: array("i"))
    """The values that it returns, counted as in `reads`."""


class StageCode(msgspec.Struct, frozen=True):
    """A text of generated code."""

    title: str
    """`Python wrapper`, `C++ kernels`."""
    language: Literal["python", "cpp"]
    text: str


class StageLine(msgspec.Struct, frozen=True):
    """A line of the user's code that a kernel comes from."""

    file: int
    """Into `Record.files`; -1 where the Record does not have the file."""
    name: str
    """The name of the file, as shown: `net.py`, `Cell In[3]`."""
    line: int
    """1-based."""
    code: str
    """The line, stripped; empty if it is not known."""


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel call of the compiled code, in the order of the calls."""

    name: str
    """As torch names it, with the number of the call: `cpp_fused_add_gelu_0:2`."""
    kind: Literal["fused", "extern"]
    """`fused`: code that the compiler generated. `extern`: a call of a library's kernel."""
    calls: str = ""
    """The function that an extern kernel calls: `aten.addmm`."""
    ops: list[int]
    """The ops of the last graph that it computes."""
    nodes: list[int]
    """The nodes of the Record's main graph that these come from."""
    lines: list[int]
    """Into `Stages.lines`: all the lines that it computes for; empty where none is known."""
    code: int = -1
    """Into `Stages.codes`: where it is called; -1 where the code is not known."""
    call_line: int = 0
    """1-based, the line of the call."""
    body: int = -1
    """Into `Stages.codes`: where it is defined; -1 of an extern kernel."""
    body_line: int = 0
    """1-based, where its definition begins."""
    microseconds: float = -1
    """Median of a warm call of it; -1 if it was not measured."""
    spread: float = 0
    """Microseconds between the quartiles."""


class StageRemark(msgspec.Struct, frozen=True):
    """Why a kernel is there that the user may not expect."""

    kernel: int
    """Into `Stages.kernels`."""
    kind: Literal["copy", "float64", "layout", "fusion", "recomputed"]
    text: str
    lines: list[int]
    """Into `Stages.lines`: the lines that cause it."""


class StageGuard(msgspec.Struct, frozen=True):
    """Requirements of compiled code on an input beyond the program's."""

    node: int
    """The placeholder of the Record's main graph."""
    text: str
    lines: list[int]
    """Into `Stages.lines`: the lines of the ops that read it."""


class StageTimes(msgspec.Struct, frozen=True, kw_only=True):
    """A call of the compiled program and its parts, in microseconds."""

    method: str
    """How it was measured, in a sentence."""
    calls: int
    """How many warm calls were profiled."""
    call: float
    """A warm call by the clock, without a profiler: median of the quicker half."""
    spread: float
    """Between the quartiles of all these calls: how noisy the machine was."""
    kernels: float
    """Sum of the kernels' medians."""
    overhead: float
    """The rest of a call: Python, allocations, launches."""
    owned: float
    """The part of `kernels` in kernels with at least one line of code: 0 to 1."""
    between: float = 0
    """Operators that ran between kernels and belong to none."""
    other: str = ""
    """Which these are: `aten::view ×2`."""


class Stages(msgspec.Struct, frozen=True, kw_only=True):
    """A compilation of the program, from its nodes to kernels and their times."""

    version: int = STAGES_VERSION
    backend: str
    """`inductor`, `aoti`, `onnx`, ..."""
    title: str
    """`torch.compile inductor`."""
    settings: str = ""
    """Options of the compiler that differ from its defaults: `max_autotune=True`."""
    device: str = "cpu"
    inputs: str = ""
    """Which inputs: `batch=2, seq=16`."""
    torch_version: str = ""
    seconds: float = 0
    """The time of compiling."""
    cached: bool = False
    """Whether a cache gave the code."""
    exported: int = 0
    """How many ops the exported program has, without those that only check or compute sizes."""
    graphs: list[StageGraph] = []
    """The graphs on the way, in order. One that the backend does not tell is left out."""
    kernels: list[Kernel] = []
    backward: int = -1
    """The first kernel of a training step's backward pass; -1 for any other program."""
    lines: list[StageLine] = []
    codes: list[StageCode] = []
    removed: Column = msgspec.field(default_factory=lambda: array("i"))
    """The ops of the exported program of which the post-grad graph has nothing."""
    remarks: list[StageRemark] = []
    guards: list[StageGuard] = []
    """Requirements on inputs that compiling adds to the program's own guards."""
    times: StageTimes | None = None
    """None where nothing was measured."""
    left_out: list[str] = []
    """Sentences on what this backend, or this torch, does not tell."""
