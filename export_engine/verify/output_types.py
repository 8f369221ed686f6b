"""The dtypes of outputs, held against those that a program declares."""

from __future__ import annotations

from typing import Any

import torch
from torch.export.graph_signature import OutputKind

from export_engine.torch_internals import pytree


def find_mistyped(program: torch.export.ExportedProgram, result: Any) -> str:
    """The first output whose dtype is not the declared one, as a clause; empty if there is none.

    Args:
        program: what it declares is in the values of its nodes.
        result: of a call, in any containers.
    """
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    specs = [
        output_spec.arg
        for output_spec in program.graph_signature.output_specs
        if output_spec.kind is OutputKind.USER_OUTPUT
    ]
    declared: list[Any] = [values.get(getattr(spec, "name", "")) for spec in specs]
    leaves: list[Any] = pytree.tree_leaves(result)
    if len(leaves) != len(declared):
        return ""
    for number, (leaf, value) in enumerate(zip(leaves, declared, strict=True)):
        tensors = isinstance(leaf, torch.Tensor) and isinstance(value, torch.Tensor)
        if tensors and leaf.dtype != value.dtype:
            dtypes = [str(item.dtype).removeprefix("torch.") for item in (leaf, value)]
            return f"Output {number} is {dtypes[0]}, but the program declares {dtypes[1]}"
    return ""
