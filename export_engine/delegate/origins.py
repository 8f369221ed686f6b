"""Which op of a program a node of a lowered graph was made of."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from export_engine.torch_internals import origins


class Origins:
    """Finds them by torch's history of each node, which begins with the program's own."""

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        """Make one.

        Args:
            program: the one that was lowered.
        """
        graphs = [
            module.graph
            for module in program.graph_module.modules()
            if isinstance(module, torch.fx.GraphModule)
        ]
        self._histories = {
            node.name: origins(node)
            for graph in reversed(graphs)  # the main graph last: its names come first
            for node in graph.nodes
            if node.op == "call_function"
        }

    def of(self, node: torch.fx.Node) -> str:
        """The name of the op; empty where there is none."""
        return self.of_history(origins(node))

    def of_history(self, history: Sequence[str]) -> str:
        """The same, of a history: names of nodes, the earliest first."""
        for at in reversed(range(len(history))):
            if self._histories.get(history[at]) == list(history[:at]):
                return history[at]
        return ""
