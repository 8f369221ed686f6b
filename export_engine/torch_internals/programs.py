"""Exported programs as torch builds them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch

from export_engine.process import raise_if_interrupted, undone
from export_engine.torch_internals.patching import replaced


def copied_program(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """A program with a graph and a signature of its own, and the same tensors.

    For what changes the program that it is given: `torch.export.unflatten` takes out its asserts.
    """
    copied = copy.copy(program)
    copied._graph_module = copy.deepcopy(program.graph_module)
    copied._graph_signature = copy.deepcopy(program.graph_signature)
    return copied


def origins(node: torch.fx.Node) -> list[str]:
    """Names of the nodes that a node comes from, by torch's record, the earliest first.

    Where `from_node` is missing, there are none.
    """
    found: list[str] = []
    waiting = list(node.meta.get("from_node") or ())
    while waiting:
        source = waiting.pop(0)
        found.append(str(getattr(source, "name", "")))
        waiting += list(getattr(source, "from_node", None) or ())
    return found[::-1]


@undone
def counted_nodes(count: Callable[[int, str], None]) -> Iterator[None]:
    """Tells of each op that torch runs anew while it decomposes a program.

    Ops of the main graph alone: torch comes to those of a branch as often as it needs to.
    """
    done = depth = 0

    def make(original: Any) -> Any:
        def run_node(self: Any, n: torch.fx.Node) -> Any:
            nonlocal depth, done
            raise_if_interrupted()
            if n.op == "call_function" and depth == 0:
                done += 1
                count(done, n.name)
            depth += 1
            try:
                return original(self, n)
            finally:
                depth -= 1

        return run_node

    with replaced(torch.fx.Interpreter, "run_node", make):
        yield
