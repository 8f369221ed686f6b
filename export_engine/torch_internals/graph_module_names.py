"""Names that a GraphModule has itself, so that torch cannot give it a weight of that name.

A module named `graph` exports, and `program.module()` fails on it. Imports no torch.
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


def own_names_in(targets: Iterable[str]) -> list[str]:
    """Those that are the first name of a weight's path, such as `graph` of `graph.weight`."""
    first = dict.fromkeys(each.partition(".")[0] for each in targets)
    return [name for name in first if name in OWN_NAMES]
