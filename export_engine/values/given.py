"""Values for the placeholders of a lifted graph: weights, and the inputs of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.fx import GraphModule

from export_engine.torch_internals import OpOverload, flat_leaves, writes_to_arguments

_TORCHS_OWN = frozenset({"aten", "prim", "prims", "higher_order", "quantized_decomposed"})


def program_inputs(
    program: ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Any]:
    """One value per placeholder of the program's graph.

    Buffers and constants are copies, and parameters if the program may write to them.

    Args:
        program: an exported program.
        args: the positional arguments of a call; the program may write to them.
        kwargs: the others.
    """
    leaves = iter(flat_leaves(program, args, kwargs))
    writes = _writes(program.graph_module)
    result: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            value = next(leaves, None)
            fixed = isinstance(spec.arg, ConstantArgument)
            result.append(spec.arg.value if fixed and value is None else value)
        elif spec.kind is InputKind.TOKEN:
            result.append(torch.empty(0, device="cpu"))
        else:
            held = _held(program, str(spec.target))
            copied = isinstance(held, torch.Tensor) and (
                writes or spec.kind is not InputKind.PARAMETER
            )
            result.append(held.detach().clone() if copied else held)
    return result


def _held(program: ExportedProgram, name: str) -> Any:
    """A parameter, a buffer or a constant."""
    state = program.state_dict
    return state[name] if name in state else program.constants[name]


def _writes(module: GraphModule) -> bool:
    """Whether any op may write to what it is given: by its schema, or as a custom op unsaid."""
    for submodule in module.modules():
        if isinstance(submodule, GraphModule):
            for node in submodule.graph.nodes:
                target = node.target
                if not isinstance(target, OpOverload):
                    continue
                if target.namespace not in _TORCHS_OWN or writes_to_arguments(target):
                    return True
    return False
