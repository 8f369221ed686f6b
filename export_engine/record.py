"""The Record: all that a view shows of one attempt, as plain data in one schema.

The engine's `describe` functions produce it; the widget, the HTML report, the command line and the
tests read it. It holds no tensor, no module and no torch object, and it knows nothing of how it is
drawn. Strings that repeat, call stacks, value types and operators are kept once in tables at the
top; a graph's nodes are columns of small integers that point into those tables. `-1` in a column
means "none".

`wire.py` turns a Record into bytes and into JSON, `typescript.py` turns this schema into
TypeScript types.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Literal

import msgspec

from export_engine.record_contract import Event, Guard, Probe, Size, Symbol
from export_engine.record_level import LevelRow
from export_engine.record_runs import Profile, RunRow
from export_engine.record_verdicts import Check, FindingRow, FixCard, Verification

SCHEMA_VERSION = 3

if TYPE_CHECKING:
    Column = array[int]
else:
    Column = array  # not subscriptable at run time before Python 3.12
"""Small integers, one per node (or per edge). Sent as a typed array, never as JSON."""


class Ragged(msgspec.Struct, frozen=True):
    """Lists of integers of different lengths: list `i` is `items[starts[i]:starts[i + 1]]`."""

    starts: Column
    items: Column


class Expression(msgspec.Struct, frozen=True):
    """A symbolic size in the user's terms. `text` is its key wherever a size is a string."""

    text: str
    symbols: list[int]
    """Indices into `Record.symbols`, in order of appearance."""


class ValueType(msgspec.Struct, frozen=True):
    """What a node produces, as far as tracing knows it. Interned: equal types are one entry."""

    kind: Literal["tensor", "int", "float", "bool", "tuple", "none", "str", "object", "unknown"]
    text: str
    """As printed on an edge: `f32[batch, 128]`, `int u0`, `(f32[4], f32[4])`."""
    dtype: str = ""
    """Without the `torch.` prefix: `float32`."""
    shape: list[Size] = []
    stride: list[Size] = []
    device: str = ""
    layout: str = ""
    """Without the `torch.` prefix: `strided`, `sparse_coo`."""
    requires_grad: bool = False
    value: Size | None = None
    """Of an int: the size it stands for."""
    items: list[int] = []
    """Of a tuple: indices into `Record.types`."""


class Target(msgspec.Struct, frozen=True):
    """What a node calls: an operator overload, a higher-order operator or a Python function."""

    name: str
    """As written in the printed graph: `aten.linear.default`, `higher_order.cond`."""
    label: str
    """Short, for a box in the graph: `linear`, `cond`."""
    kind: Literal["aten", "prim", "custom", "higher_order", "python", "module"]
    """`python` is a builtin on sizes, such as `operator.add`; `module` a submodule call."""
    schema: str = ""
    overload: str = ""
    mutates: list[str] = []
    """Names of the arguments that the schema says are written to."""
    aliases: list[str] = []
    """Names of the arguments that a result may share memory with, without being written to."""
    core: bool = False
    """Whether the op is tagged as part of the Core ATen opset."""
    tags: list[str] = []


class Scope(msgspec.Struct, frozen=True):
    """One call of one module instance, on the path from the root to an op."""

    path: str
    """Attribute path from the root, `encoder.layer.0.attention`; empty for the root itself."""
    name: str
    """Last part of the path, or the call's title for the root."""
    cls: str
    """Qualified class name, `transformers.models.bert.modeling_bert.BertLayer`."""
    parent: int
    """Index into `Record.scopes`; -1 for the root."""
    call: int = 0
    """0 for the first call of this instance under its parent, 1 for the second, ..."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file or notebook cell that a line of some stack is in."""

    path: str
    """As Python knows it; for a cell this is no real file."""
    name: str
    """As shown: `Cell In[3]`, `bert/modeling_bert.py`."""
    origin: Literal["cell", "user", "library", "torch", "generated"]
    """`user`: a file outside site-packages and the standard library."""
    text: str = ""
    """Its text, in a Record that was saved for reading elsewhere; else fetched on demand."""


class Frames(msgspec.Struct, frozen=True):
    """Stack frames as columns. `file` points into `Record.files`, `function` into `strings`."""

    file: Column
    line: Column
    """1-based."""
    function: Column


class NestedGraph(msgspec.Struct, frozen=True):
    """That a node runs another graph of this Record: a branch of cond, a body of map or scan."""

    node: int
    graph: int
    argument: str
    """What the higher-order operator calls it: `true_fn`, `body_fn`."""


class Graph(msgspec.Struct, frozen=True):
    """One FX graph. Columns have one entry per node, in execution order."""

    title: str
    """`main`, or the submodule's name for a nested graph: `true_graph_0`."""
    name: Column
    """Node names; into `Record.strings`."""
    op: Column
    """Into `OPS`."""
    target: Column
    """Into `Record.targets`; -1 for placeholder, get_attr and output."""
    type: Column
    """Into `Record.types`."""
    scope: Column
    """Into `Record.scopes`; -1 for a node outside every module (inputs, the output)."""
    stack: Column
    """Into `Record.stacks`; -1 where tracing recorded none."""
    args: Column
    """Argument text into `Record.strings`, where `{0}`, `{1}`, ... stand for `inputs`, in order,
    and a literal brace is doubled: `({0}, [batch, 4], alpha=2)`."""
    inputs: Ragged
    """Per node, the nodes it reads, by position in `args`; the same node may stand there twice."""
    housekeeping: Column
    """1 for a node that only checks or computes sizes, 0 for the others."""
    nested: list[NestedGraph] = []


OPS = ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output")


class InputEntry(msgspec.Struct, frozen=True):
    """One input of the flat program, after `torch.export.graph_signature.InputSpec`."""

    kind: Literal["user_input", "parameter", "buffer", "constant_tensor", "custom_object", "token"]
    name: str
    node: int
    """Index of the placeholder in graph 0; -1 where the program lacks it."""
    type: int
    target: str = ""
    """Where the value lives in the module: `lin.weight`."""
    path: str = ""
    """Of a user input, where the caller passes it: `x`, `cache.0.key`, `kwargs.mask`."""
    persistent: bool | None = None
    """Of a buffer: whether it is part of the state dict."""
    constant: str | None = None
    """Of a user input that is no tensor: its fixed value, as text."""
    bytes: int = 0
    """Size of the value held by the program."""


class OutputEntry(msgspec.Struct, frozen=True):
    """One output of the flat program, after `torch.export.graph_signature.OutputSpec`."""

    kind: Literal[
        "user_output",
        "loss_output",
        "buffer_mutation",
        "parameter_mutation",
        "user_input_mutation",
        "gradient_to_parameter",
        "gradient_to_user_input",
        "token",
    ]
    name: str
    node: int
    """Index in graph 0 of the node whose value this is; -1 for a constant output."""
    type: int
    target: str = ""
    path: str = ""
    """Of a user output, where the caller finds it: `0`, `logits`, `1.cache.0`."""
    constant: str | None = None


class Signature(msgspec.Struct, frozen=True):
    """The graph signature: every input and output of the flat program, in order."""

    inputs: list[InputEntry]
    outputs: list[OutputEntry]


class Related(msgspec.Struct, frozen=True):
    """A place that has to do with a failure."""

    text: str
    """What happens there, as a phrase: `asks that batch <= 16`."""
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
    """False where we cannot tell what kind of failure it is."""
    sentence: str
    """The first thing to show: one plain sentence."""
    why: str
    """The reason behind it, for someone new to torch.export; may be empty."""
    message: str
    """torch's own text, in full."""
    traceback: str
    """The whole traceback, as text, for those who ask for it."""
    stack: int = -1
    """The user's frames at the failing line; into `Record.stacks`."""
    span: list[int] = []
    """The sub-expression in the innermost frame: line, column, end line, end column. Lines from 1,
    columns from 0 in characters, the end excluded. Empty: not known."""
    related: list[Related] = []
    links: list[Link] = []
    fixes: list[FixCard] = []


class Timing(msgspec.Struct, frozen=True):
    """Seconds, by the wall clock."""

    capture: float


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """All that a view shows of one attempt."""

    schema: int = SCHEMA_VERSION
    title: str
    """The call as the user wrote it, `model(x)`, or the file it was loaded from."""
    outcome: Literal["exported", "failed"]
    mode: Literal["strict", "non-strict", "loaded"]
    verdict: str
    """One line: `exported, non-strict, 1,187 ops, batch in [2, ∞)`."""
    shapes: str
    """The dynamic shapes asked for, in the short language."""
    torch_version: str
    timing: Timing | None = None
    warnings: list[str] = []
    """What torch and the model warned of while tracing, and what a loaded program lacks."""
    printed: str = ""
    """What the model printed while tracing."""
    strings: list[str] = []
    targets: list[Target] = []
    types: list[ValueType] = []
    expressions: list[Expression] = []
    scopes: list[Scope] = []
    files: list[SourceFile] = []
    frames: Frames
    stacks: Ragged
    """Per stack, indices into `frames`, the outermost call first."""
    graphs: list[Graph] = []
    """The main graph first; empty for a failure that left no partial graph."""
    signature: Signature = Signature([], [])
    symbols: list[Symbol] = []
    guards: list[Guard] = []
    timeline: list[Event] = []
    """What happened to the symbols, in order; empty for a loaded program that keeps none."""
    probe: Probe = Probe([], [], [])
    """What the program asks of the sizes of its inputs, to be tried out without running it."""
    failure: Failure | None = None
    fixed_by: list[str] = []
    """Titles of the fixes that led from the first attempt to this one, in order."""
    fixed_code: list[str] = []
    """The source edits in effect, as a unified diff per file."""
    check: Check | None = None
    level: LevelRow | None = None
    """Of a program that came from another by decomposition: how."""
    findings: list[FindingRow] = []
    """What is wrong or surprising about an export that succeeded, the gravest first."""
    verification: Verification | None = None
    """The guarantees, where they were checked."""
    runs: list[RunRow] = []
    """What came of running it, the oldest first."""
    profile: Profile | None = None
    """What its ops cost, where that was measured."""
