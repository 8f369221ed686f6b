"""All use of torch's private names. Nothing else in the project may know them.

Each part says what happens where a name is missing: a hook that cannot be installed is left out,
and the export goes on with what torch itself records. Checked on torch 2.13.0.
"""

from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from export_engine.torch_internals.errors import (
    branch_mismatch,
    control_flow_operator,
    exportdb_cases,
    graph_break,
    is_constraint_violation,
    operator_without_fake,
    raised_in,
    returned_views,
    unknown_output,
    violated_dims,
    writing_nodes,
)
from export_engine.torch_internals.hooks import recording, torch_options
from export_engine.torch_internals.inputs import (
    call_leaves,
    deregister_container,
    derived_dim,
    dim_bounds,
    dim_hint,
    dynamic_shapes_tree,
    is_container,
    is_input_type,
    key_text,
    keywords_apart,
    map_call_leaves,
    register_container,
    specs_of_leaves,
)
from export_engine.torch_internals.operators import calls_of_op, op_signature, writes_to_arguments
from export_engine.torch_internals.symbols import (
    expression_of,
    guards_code,
    int_bound,
    is_relation,
    is_truth_value,
    known_range,
    linear_in,
    replaced_sizes,
    short_dtype,
    symbol_hint,
    symbol_printer,
    symbol_value,
    symbols_left,
)

__all__ = [
    "FakeTensor",
    "HigherOrderOperator",
    "OpOverload",
    "branch_mismatch",
    "call_leaves",
    "calls_of_op",
    "control_flow_operator",
    "deregister_container",
    "derived_dim",
    "dim_bounds",
    "dim_hint",
    "dynamic_shapes_tree",
    "exportdb_cases",
    "expression_of",
    "graph_break",
    "guards_code",
    "int_bound",
    "is_constraint_violation",
    "is_container",
    "is_input_type",
    "is_relation",
    "is_truth_value",
    "key_text",
    "keywords_apart",
    "known_range",
    "linear_in",
    "map_call_leaves",
    "op_signature",
    "operator_without_fake",
    "pytree",
    "raised_in",
    "recording",
    "register_container",
    "replaced_sizes",
    "returned_views",
    "short_dtype",
    "specs_of_leaves",
    "symbol_hint",
    "symbol_printer",
    "symbol_value",
    "symbols_left",
    "torch_options",
    "unknown_output",
    "violated_dims",
    "writes_to_arguments",
    "writing_nodes",
]
