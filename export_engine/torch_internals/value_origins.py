"""The source of a tensor left from a trace: values of inputs, or only sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.operators import op_schema
from export_engine.torch_internals.tensors import is_fake

Depends = Callable[[Any], bool | None]
"""Whether a value follows from values of inputs or from random numbers; None if unknown."""

_OF_SIZES = ("aten.sym_", "aten.zeros_like", "aten.ones_like", "aten.empty_like", "aten.new_empty")
"""Ops that read of their first argument nothing but size, dtype and device."""
_FILLING = ("aten.full_like", "aten.new_full", "aten.new_zeros", "aten.new_ones")


def dependence(tracer: Any, graph: torch.fx.Graph, inputs: Iterable[Any]) -> Depends:
    """A test whether a value of a trace depends on values of inputs.

    Args:
        tracer: it made the graph, and knows the node of each tensor.
        graph: as far as it was traced.
        inputs: the fake tensors that the model was called with.
    """
    if not torch_has.PROXY_SLOT:
        return lambda _: None

    def node_of(value: Any) -> torch.fx.Node | None:
        slot = torch_has.PROXY_SLOT.value(value, tracer, None)
        node = getattr(getattr(slot, "proxy", slot), "node", None)
        return node if isinstance(node, torch.fx.Node) else None

    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    dependent = {id(node) for tensor in tensors if (node := node_of(tensor)) is not None}
    for node in graph.nodes:
        if node.op == "call_function":
            _spread(node, dependent)

    def depends(value: Any) -> bool | None:
        if isinstance(value, torch.Tensor) and not is_fake(value):
            return False
        node = node_of(value) if isinstance(value, torch.Tensor) else None
        return None if node is None else id(node) in dependent

    return depends


def _spread(node: torch.fx.Node, dependent: set[int]) -> None:
    """Adds a node that depends on such values, and what it writes them into."""
    name = str(node.target)
    read = node.all_input_nodes
    if name.startswith((*_OF_SIZES, *_FILLING)):
        read = [input_node for input_node in read if input_node is not node.args[0]]
    drawn = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
    if not drawn and not any(id(node) in dependent for node in read):
        return
    dependent.add(id(node))
    schema = op_schema(node.target)
    for argument, passed in zip(schema.arguments if schema else (), node.args, strict=False):
        if argument.is_write and isinstance(passed, torch.fx.Node):
            dependent.add(id(passed))
