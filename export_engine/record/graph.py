"""The part of the Record that is a graph: its nodes as columns, and the tables they point into.

`record.py` has the rest, and says how all of it is read.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Literal

import msgspec

from export_engine.record.contract import Size

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
    """The type of a node's value. Interned: equal types are one entry."""

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
    """For an int: the size it stands for."""
    items: list[int] = []
    """For a tuple: indices into `Record.types`."""


class Target(msgspec.Struct, frozen=True):
    """A node's target: an operator overload, a higher-order operator or a Python function."""

    name: str
    """As written in the printed graph: `aten.linear.default`, `higher_order.cond`."""
    label: str
    """Short, for a box in the graph: `linear`, `cond`."""
    kind: Literal["aten", "prim", "custom", "higher_order", "python", "module"]
    """`python` is a builtin on sizes, such as `operator.add`; `module` a submodule call."""
    schema: str = ""
    """As torch prints it. For a module its text, or `<Class>` where that runs the user's code."""
    overload: str = ""
    mutates: list[str] = []
    """Names of the arguments that the schema marks as mutated."""
    aliases: list[str] = []
    """Names of the arguments that a result may alias, without mutation."""
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
    """As Python knows it; for a cell this is not a real file."""
    name: str
    """As shown: `Cell In[3]`, `bert/modeling_bert.py`."""
    origin: Literal["cell", "user", "library", "torch", "generated"]
    """`user`: a file outside site-packages and the standard library."""
    text: str = ""
    """Its text, in a saved Record; else fetched on demand."""


class Frames(msgspec.Struct, frozen=True):
    """Stack frames as columns. `file` points into `Record.files`, `function` into `strings`."""

    file: Column
    line: Column
    """1-based."""
    function: Column


class NestedGraph(msgspec.Struct, frozen=True):
    """A nested graph of a node: a branch of cond, a body of map or scan."""

    node: int
    graph: int
    argument: str
    """Its argument name in the higher-order operator: `true_fn`, `body_fn`."""
    holder: int = -1
    """The get_attr node that names it, or `node` itself; -1 in a file of before."""


class Group(msgspec.Struct, frozen=True):
    """Ops of one module that belong together: those of one call of a function that it uses.

    Or, without a function's name, neighbours that work out sizes, positions or masks.
    """

    function: str
    """The function's name, `apply_rotary_pos_emb`; empty for neighbours without one."""
    parent: int
    """Index into `Graph.groups`, before this one; -1 where the module's own code makes it."""
    scope: int
    """The module, into `Record.scopes`; -1 for the graph's outermost."""
    plumbing: bool
    """Whether nothing in it depends on floating-point inputs, parameters or buffers, while what
    reads it does: masks, positions, sizes."""
    scopes: list[int] = []
    """Modules that the function calls; into `Record.scopes`."""


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
    and a literal brace is doubled: `({0}, [batch, 4], alpha=2)`; a get_attr's is its tensor's name.
    """
    inputs: Ragged
    """Per node, the nodes it reads, by position in `args`; the same node may be there twice."""
    housekeeping: Column
    """1 for a node that only checks or computes sizes, 0 for the others."""
    nested: list[NestedGraph] = []
    group: Column = msgspec.field(default_factory=lambda: array("i"))
    """Into `groups`; -1 for a node in none. Empty where there are no groups."""
    groups: list[Group] = []


OPS = ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output")

HOUSEKEEPING = frozenset(
    {
        "aten._assert_tensor_metadata.default",
        "aten._assert_scalar.default",
        "aten._assert_async.msg",
        "aten._assert_async.default",
        "aten.sym_size.int",
        "aten.sym_size.default",
        "aten.sym_stride.int",
        "aten.sym_stride.default",
        "aten.sym_numel.default",
        "aten.sym_storage_offset.default",
        "aten.sym_constrain_range.default",
        "aten.sym_constrain_range_for_size.default",
    }
)
"""Ops that only check or compute sizes; rarely of interest to a reader."""


def count_ops(op_column: Column) -> int:
    """How many nodes of a graph call something, by its column of ops."""
    calls = {OPS.index(op) for op in ("call_function", "call_module", "call_method")}
    return sum(op in calls for op in op_column)
