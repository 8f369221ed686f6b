"""torch's serialisation schema, as far as a Record needs it: `models/*.json` and what is beside it.

After `torch/_export/serde/schema.py`, by which torch writes them. A field that is not here is named
as unknown. A union is a dict with one key, its kind, and a value that is decoded once the kind is
known, so a kind of a later torch is kept as text.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from export_engine.archive import limits
from export_engine.archive.strict_decoding import OpenStruct

SCHEMA_VERSION = (8, 20)
"""The newest version known here, of torch 2.13 to 2.15."""

Int = Annotated[int, msgspec.Meta(ge=-limits.INTEGER - 1, le=limits.INTEGER)]
"""A number of 64 bits."""
Float = float | Literal["Infinity", "-Infinity", "NaN"]
"""torch writes numbers that JSON lacks as text."""
UNUSED = msgspec.Raw(b"null")
"""The type of a field that torch writes and a Record does not need."""
Union = dict[str, msgspec.Raw]
"""`{"as_tensor": {"name": "x"}}`."""


class Named(msgspec.Struct):
    """A TensorArgument, a TokenArgument, or the name in a CustomObjArgument."""

    name: str
    class_fqn: str = ""


class Device(msgspec.Struct):
    """A device."""

    type: str
    index: Int | None = None


class SymExpr(msgspec.Struct):
    """A symbolic size."""

    expr_str: str
    hint: dict[str, Int | Float | bool] | None = None


class Size(msgspec.Struct):
    """A SymInt, SymFloat or SymBool: one of these is given."""

    as_expr: SymExpr | None = None
    as_int: Int | None = None
    as_float: Float | None = None
    as_bool: bool | None = None


class TensorMeta(msgspec.Struct):
    """The metadata of a tensor."""

    dtype: Int
    sizes: list[Size]
    requires_grad: bool
    device: Device
    strides: list[Size]
    layout: Int
    storage_offset: msgspec.Raw = UNUSED


class SymArgument(msgspec.Struct):
    """A SymIntArgument, SymFloatArgument or SymBoolArgument: a node's name, or a value."""

    as_name: str | None = None
    as_int: Int | None = None
    as_float: Float | None = None
    as_bool: bool | None = None


class Complex(msgspec.Struct):
    """A complex number."""

    real: Float
    imag: Float


class GraphArgument(msgspec.Struct):
    """A graph that a higher-order operator is given."""

    name: str
    graph: Graph


class NamedArgument(msgspec.Struct):
    """An argument of a call."""

    arg: Union
    name: str = ""
    kind: Int | None = None


class Metadata(OpenStruct):
    """The metadata of a node: where it comes from."""

    stack_trace: str | None = None
    nn_module_stack: str | None = None
    from_node: str | None = None
    """JSON: the nodes that it was made from, the nearest first."""
    debug_handle: str | None = None
    """By which ExecuTorch tells of it: an int."""


class Node(msgspec.Struct):
    """A call."""

    target: str
    inputs: list[NamedArgument]
    outputs: list[Union]
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    is_hop_single_tensor_return: bool | None = None
    name: str | None = None


class Graph(msgspec.Struct):
    """A graph: its calls, and per name what is known of the value."""

    inputs: list[Union]
    outputs: list[Union]
    nodes: list[Node]
    tensor_values: dict[str, TensorMeta] = {}
    sym_int_values: dict[str, Size] = {}
    sym_bool_values: dict[str, Size] = {}
    sym_float_values: dict[str, Size] = {}
    custom_obj_values: dict[str, Named] = {}
    is_single_tensor_return: bool = False


class Spec(msgspec.Struct):
    """The spec of an input or an output; specs differ in field names."""

    arg: Union | None = None
    """A union, or the fields of a `Named`."""
    name: str = ""
    """For an input that is a constant, as is its value."""
    value: Union | None = None
    parameter_name: str = ""
    buffer_name: str = ""
    tensor_constant_name: str = ""
    custom_obj_name: str = ""
    user_input_name: str = ""
    persistent: bool | None = None


class Signature(msgspec.Struct):
    """The graph signature."""

    input_specs: list[dict[str, Spec]]
    output_specs: list[dict[str, Spec]]


class CallSignature(msgspec.Struct):
    """The call signature of a module. The pytree specs are JSON text."""

    in_spec: str = ""
    out_spec: str = ""
    forward_arg_names: list[str] | None = None
    inputs: msgspec.Raw = UNUSED
    outputs: msgspec.Raw = UNUSED


class ModuleCall(msgspec.Struct):
    """A module of the program."""

    fqn: str
    signature: CallSignature | None = None


class Fields(msgspec.Struct):
    """The fields of a namedtuple."""

    field_names: list[str] = []


class GraphModule(msgspec.Struct):
    """The graph with its signature."""

    graph: Graph
    signature: Signature
    module_call_graph: list[ModuleCall] = []
    metadata: msgspec.Raw = UNUSED
    treespec_namedtuple_fields: dict[str, Fields] = {}


class Range(msgspec.Struct):
    """The range of a symbol; None for an end that is open."""

    min_val: Int | None = None
    max_val: Int | None = None


class Version(msgspec.Struct):
    """The version of the schema."""

    major: Int
    minor: Int


class ExportedProgram(msgspec.Struct):
    """`models/*.json`."""

    graph_module: GraphModule
    schema_version: Version
    range_constraints: dict[str, Range] = {}
    torch_version: str = ""
    guards_code: list[str] = []
    opset_version: msgspec.Raw = UNUSED
    verifiers: msgspec.Raw = UNUSED


class Payload(msgspec.Struct):
    """The location and metadata of a tensor."""

    path_name: str = ""
    use_pickle: bool = False
    tensor_meta: TensorMeta | None = None


class PayloadConfig(msgspec.Struct):
    """`data/weights/*_weights_config.json`, and that of constants."""

    config: dict[str, Payload] = {}


DTYPES = {
    1: "uint8",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "float16",
    7: "float32",
    8: "float64",
    9: "complex32",
    10: "complex64",
    11: "complex128",
    12: "bool",
    13: "bfloat16",
    28: "uint16",
    29: "float8_e4m3fn",
    30: "float8_e5m2",
    31: "float8_e4m3fnuz",
    32: "float8_e5m2fnuz",
    33: "float8_e8m0fnu",
    34: "uint32",
    35: "uint64",
}
"""ScalarType, by torch's names."""
LAYOUTS = {
    1: "sparse_coo",
    2: "sparse_csr",
    3: "sparse_csc",
    4: "sparse_bsr",
    5: "sparse_bsc",
    6: "_mkldnn",
    7: "strided",
}
MEMORY_FORMATS = {
    1: "contiguous_format",
    2: "channels_last",
    3: "channels_last_3d",
    4: "preserve_format",
}
