"""The ops of a program with their places, for findings to look through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from export_engine.source import Stack, parse_stack_trace
from export_engine.torch_internals import op_schema


class Op(NamedTuple):
    """A call in the main graph or a nested one."""

    node: torch.fx.Node
    position: int
    """In the main graph; of an op in a nested graph, that of the op that runs it."""

    @property
    def stack(self) -> Stack:
        """The user's lines."""
        return parse(self.node)

    @property
    def name(self) -> str:
        """`aten.dropout.default`."""
        return str(self.node.target)

    def argument(self, name: str, default: Any = None) -> Any:
        """An argument by the name that the op's schema gives it."""
        if name in self.node.kwargs:
            return self.node.kwargs[name]
        schema = op_schema(self.node.target)
        for number, argument in enumerate(schema.arguments if schema else ()):
            if argument.name == name:
                if number < len(self.node.args):
                    return self.node.args[number]
                return argument.default_value if argument.has_default_value() else default
        return default


def parse(node: torch.fx.Node) -> Stack:
    """The user's lines of a node."""
    return parse_stack_trace(node.stack_trace or "")


def ops_of(program: torch.export.ExportedProgram) -> Iterator[Op]:
    """Every call of a program, in order, those of nested graphs after the op that runs them."""
    for position, node in enumerate(program.graph.nodes):
        if node.op == "call_function":
            yield Op(node, position)
            yield from _iter_nested_ops(program.graph_module, node, position)


def _iter_nested_ops(owner: torch.nn.Module, node: torch.fx.Node, position: int) -> Iterator[Op]:
    for input_node in node.all_input_nodes:
        inner = (
            getattr(owner, str(input_node.target), None) if input_node.op == "get_attr" else None
        )
        if isinstance(inner, torch.fx.GraphModule):
            for inside in inner.graph.nodes:
                if inside.op == "call_function":
                    yield Op(inside, position)
                    yield from _iter_nested_ops(inner, inside, position)
