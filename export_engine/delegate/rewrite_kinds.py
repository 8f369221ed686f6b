"""All kinds of rewrites, in the order in which they are tried on an op."""

from __future__ import annotations

from collections.abc import Collection

import torch

from export_engine.delegate.graph_edit import GraphEdit, ProgramEdit
from export_engine.delegate.layer_rewrites import LAYERS
from export_engine.delegate.rewrites import OPS

REWRITES = (*LAYERS, *OPS)


def find_kinds(program: torch.export.ExportedProgram, outside: Collection[str]) -> list[str]:
    """The kinds of rewrites for ops that a backend left, by the ops' names alone.

    Args:
        program: that was lowered.
        outside: names of its nodes that stayed outside.
    """
    targets = {str(node.target) for node in program.graph.nodes if node.name in outside}
    named = [rewrite.kind for rewrite in REWRITES if rewrite.ops & targets]
    edit = ProgramEdit(program, outside)
    nodes = [node for node in edit.program.graph.nodes if node.name in outside]
    general = [
        rewrite.kind
        for rewrite in REWRITES
        if not rewrite.ops and any(rewrite.make(GraphEdit(node, edit), node) for node in nodes)
    ]
    return [*general, *named]
