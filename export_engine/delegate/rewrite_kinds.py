"""All kinds of rewrites, in the order in which they are tried on an op."""

from __future__ import annotations

from collections.abc import Collection

import torch

from export_engine.delegate.graph_edit import GraphEdit, ProgramEdit
from export_engine.delegate.layer_rewrites import LAYERS
from export_engine.delegate.rewrites import OPS

REWRITES = (*LAYERS, *OPS)


def find_kinds(program: torch.export.ExportedProgram, outside: Collection[str]) -> list[str]:
    """The kinds of rewrites for ops that a backend left.

    A rewrite of certain ops is found by their names alone; one of any op is tried.

    Args:
        program: that was lowered.
        outside: names of its nodes that stayed outside.
    """
    edit = ProgramEdit(program, outside)
    nodes = [node for node in edit.program.graph.nodes if node.name in outside]
    return [
        rewrite.kind
        for rewrite in REWRITES
        if any(
            rewrite.fits(node) and (rewrite.ops or rewrite.try_at(GraphEdit(node, edit)))
            for node in nodes
        )
    ]
