"""Which op of a program a node of a graph that a backend made of it comes from.

An op becomes several nodes, and the last of them has its value; `ops_of` tells which.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export_engine.torch_internals import origins


class Origins:
    """Finds them by torch's history of each node, which begins with the program's own."""

    def __init__(self, program: ExportedProgram, *, nested: bool = True) -> None:
        """Make one.

        Args:
            program: the one that was lowered.
            nested: whether ops of branches and loops count.
        """
        graphs = [program.graph]
        if nested:
            modules = program.graph_module.modules()
            graphs = [part.graph for part in modules if isinstance(part, torch.fx.GraphModule)]
        self._histories = {
            node.name: origins(node)
            for graph in reversed(graphs)  # the main graph last: its names come first
            for node in graph.nodes
            if node.op == "call_function"
        }

    def of(self, node: Node) -> str:
        """The name of the op; empty where there is none."""
        return self.of_history(origins(node))

    def of_history(self, history: Sequence[str]) -> str:
        """The same, of a history: names of nodes, the earliest first."""
        for at in reversed(range(len(history))):
            if self._histories.get(history[at]) == list(history[:at]):
                return history[at]
        return ""


def ops_of(program: ExportedProgram, made: Iterable[Node]) -> dict[str, str]:
    """Per node of a graph that was made of a program, by name, the op that has its value.

    Nodes that have the value of none are left out.

    Args:
        program: the one that it was made of.
        made: the graph's nodes, in order.
    """
    ops = {node.name: node for node in program.graph.nodes if node.op == "call_function"}
    program_ops = Origins(program, nested=False)
    sources = {node: program_ops.of(node) for node in made if node.op == "call_function"}
    names: dict[str, str] = {}
    for node, source in sources.items():
        op = _find_getitem(node, ops[source]) if source else None
        read = any(sources.get(user) != source for user in node.users)
        if op is not None and read and _alike(node, op):
            names[op.name] = node.name  # a later one takes the place of an earlier one
    return {node: source for source, node in names.items()}


def sources_of(program: ExportedProgram, made: Iterable[Node]) -> dict[str, str]:
    """Per node of a graph that was made of a program, by name, the op that it is a part of.

    Nodes that are of none are left out.

    Args:
        program: the one that it was made of.
        made: the graph's nodes.
    """
    program_ops = Origins(program, nested=False)
    sources = {node.name: program_ops.of(node) for node in made if node.op == "call_function"}
    return {name: source for name, source in sources.items() if source}


def _find_getitem(node: Node, op: Node) -> Node | None:
    """The op, or of one with several results the node that picks the same one as a node does.

    torch's record of what picks a result names the op, and not what picked it before.
    """
    if not isinstance(op.meta.get("val"), tuple | list):
        return op
    if getattr(node.target, "__name__", "") != "getitem":
        return None
    return next((user for user in op.users if user.args[1:] == node.args[1:]), None)


def _alike(node: Node, op: Node) -> bool:
    one, other = node.meta.get("val"), op.meta.get("val")
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    return one.dtype == other.dtype and one.dim() == other.dim()
