"""A program of the distinct ops of another: what is done op by op is then done once for each."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument
from torch.fx import GraphModule, Node

from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.operators import OpOverload, writes_to_arguments
from export_engine.torch_internals.programs import copy_program
from export_engine.torch_internals.running import set_outputs
from export_engine.torch_internals.symbols import expression_of
from export_engine.torch_internals.tensors import is_fake

_FEWER = 2
"""How many times as many ops a program has to have for the smaller one to be worth it."""
_NUMBERS = torch.SymInt | torch.SymFloat | torch.SymBool


def keep_distinct_ops(program: ExportedProgram) -> ExportedProgram | None:
    """A program in which each distinct op of a program is called once.

    Two calls are equal if they have the same operator, the same plain arguments, and tensors of
    the same dtypes, sizes, strides and devices. Users of the later call read the first. Each tensor
    without a user is an output. The result computes something else from the same inputs; a pass
    that handles one op at a time does the same to both.

    Args:
        program: it is not changed.

    Returns:
        The smaller program; None if a program writes to tensors, since then ops depend on those
        before them, or if not many are equal.
    """
    specs = program.graph_signature.output_specs
    if _writes(program.graph_module) or any(s.kind is not OutputKind.USER_OUTPUT for s in specs):
        return None
    copied = copy_program(program)
    calls = [node for node in copied.graph.nodes if node.op == "call_function"]
    replaced = _find_equal(copied)
    if (len(calls) - len(replaced)) * _FEWER > len(calls):
        return None
    output = copied.graph.output_node()
    for node in calls:
        if node not in replaced:
            node.args, node.kwargs = torch.fx.map_arg(
                (node.args, node.kwargs), lambda arg: replaced.get(arg, arg)
            )
    output.args = ((),)
    for node in reversed(replaced):
        copied.graph.erase_node(node)
    unread = [
        node
        for node in calls
        if node not in replaced
        and isinstance(node.meta.get("val"), torch.Tensor)
        and not node.users
    ]
    output.args = (tuple(unread),)
    copied.graph_module.recompile()
    outputs = [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(n.name), None) for n in unread]
    set_outputs(copied, program, outputs, pytree.tree_flatten([0] * len(unread))[1])
    return copied


def _writes(module: torch.nn.Module) -> bool:
    """Whether an op of a graph, or of one nested in it, mutates a tensor."""
    graphs = (part.graph for part in module.modules() if isinstance(part, GraphModule))
    targets = (node.target for graph in graphs for node in graph.nodes)
    return any(
        writes_to_arguments(target) if isinstance(target, OpOverload) else "mutation" in str(target)
        for target in targets
    )


def _find_equal(program: ExportedProgram) -> dict[Node, Node]:
    """Calls of an op that was called before, and its first call."""
    first: dict[Any, Node] = {}
    replaced: dict[Node, Node] = {}
    described: dict[Node, Any] = {}
    for node in program.graph.nodes:
        values = list(dict.fromkeys(node.all_input_nodes))
        from_weights = any(described[value][1] for value in values)
        if node.op == "placeholder":
            from_weights = bool(getattr(node.meta.get("val"), "requires_grad", False))
        described[node] = (_describe_value(node.meta.get("val")), from_weights)
        if node.op != "call_function" or not _can_merge(node):
            continue
        inputs = {value: (number, described[value]) for number, value in enumerate(values)}
        key = (node.target, _describe_argument((node.args, node.kwargs), inputs), described[node])
        earlier = first.setdefault(key, node)
        if earlier is not node:
            replaced[node] = earlier
    return replaced


def _can_merge(node: Node) -> bool:
    """Whether a call depends on its arguments alone: no nested graph, no size of its own."""
    known = isinstance(node.target, OpOverload) or (isinstance(node.meta.get("val"), _NUMBERS))
    return known and not node.meta.get("unbacked_bindings")


def _describe_argument(value: Any, inputs: dict[Node, Any]) -> Any:
    if isinstance(value, Node):
        return inputs[value]
    if isinstance(value, tuple | list):
        return tuple(_describe_argument(item, inputs) for item in value)
    if isinstance(value, dict):
        return tuple((name, _describe_argument(item, inputs)) for name, item in value.items())
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice, _describe_argument(parts, inputs)
    return type(value), repr(value)


def _describe_value(value: Any) -> Any:
    """The properties an op can depend on; for an unknown type, an object that equals no other."""
    if isinstance(value, tuple | list):
        return tuple(_describe_value(item) for item in value)
    if isinstance(value, _NUMBERS):
        return type(value), expression_of(value)
    if value is None or isinstance(value, int | float | str):
        return type(value), repr(value)
    if not isinstance(value, torch.Tensor) or not _is_strided(value):
        return object()
    return (
        value.dtype,
        value.device,
        value.requires_grad,
        value.is_conj(),
        value.is_neg(),
        value.dim(),
        *map(_describe_size, (*value.shape, *value.stride(), value.storage_offset())),
    )


def _is_strided(value: torch.Tensor) -> bool:
    """Whether it is a fake tensor of numbers in memory, and of no class of its own."""
    own = hasattr(type(value), "__tensor_flatten__")
    return is_fake(value) and not own and value.layout is torch.strided and not value.is_quantized


def _describe_size(size: Any) -> Any:
    return expression_of(size) if isinstance(size, torch.SymInt) else size
