"""All kinds of rewrites, in the order in which they are tried on an op."""

from __future__ import annotations

from collections.abc import Collection

import torch

from export_engine.delegate.graph_edit import ProgramEdit
from export_engine.delegate.layer_rewrites import LAYERS
from export_engine.delegate.rewrites import OPS

REWRITES = (*LAYERS, *OPS)


def find_kinds(program: torch.export.ExportedProgram, outside: Collection[str]) -> list[str]:
    """The kinds of rewrites for ops that a backend left, by the ops' names alone.

    Args:
        program: that was lowered.
        outside: names of its nodes that stayed outside.
    """
    nodes = [node for node in program.graph.nodes if node.name in outside]
    edit = ProgramEdit(program, outside)
    fixed = any(map(edit.reads_no_input, nodes))
    return [
        rewrite.kind
        for rewrite in REWRITES
        if (fixed if not rewrite.ops else any(map(rewrite.fits, nodes)))
    ]
