"""Names that torch keeps to itself in graph modules. Imports no torch.

A GraphModule has some itself, so that torch cannot give it a weight of that name: a module named
`graph` exports, and `program.module()` fails on it.
"""

from __future__ import annotations

from collections.abc import Iterable

OWN_NAMES = frozenset(
    {"code", "graph", "meta", "shape_env", "range_constraints", "validate_inputs", "recompile"}
    | {"print_readable", "to_folder"}
    | {"add_submodule", "delete_submodule", "delete_all_unused_submodules"}
    | {"_code", "_graph", "_guards_fn", "_in_spec", "_out_spec"}
)
"""Attributes of `torch.fx.GraphModule`, and those that `ExportedProgram.module()` sets on one."""

NO_MODULE = "_empty_nn_module_stack_from_metadata_hook"
"""torch's module name for an op that its own passes added, such as the size of an input
that a guard reads (`torch._export.passes._node_metadata_hook`)."""


def find_own_names(targets: Iterable[str]) -> list[str]:
    """Those that are the first name of a weight's path, such as `graph` of `graph.weight`."""
    first = dict.fromkeys(target.partition(".")[0] for target in targets)
    return [name for name in first if name in OWN_NAMES]
