"""All kinds of rewrites, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Collection

import torch

from export_engine.delegate.backend import DelegationBackend
from export_engine.delegate.graph_edit import GraphEdit, ProgramEdit
from export_engine.delegate.layer_rewrites import LAYERS
from export_engine.delegate.program_rewrites import PROGRAMS, Outside, ProgramRewrite
from export_engine.delegate.rewrites import OPS
from export_engine.record import DelegatedOp

REWRITES = (*LAYERS, *OPS)
"""Of ops. Those of whole programs come before them."""


def list_rewrites_of_programs(backend: DelegationBackend) -> tuple[ProgramRewrite, ...]:
    """The kinds of rewrites of whole programs for a backend, its own passes last."""
    return (*PROGRAMS, *getattr(backend, "passes", ()))


def find_outside(
    program: torch.export.ExportedProgram,
    backend: DelegationBackend,
    outside: Collection[DelegatedOp],
) -> Outside:
    """The ops of a program that a backend left, as rewrites of whole programs take them."""
    replaced = frozenset[str]().union(*(rewrite.ops for rewrite in REWRITES))
    return Outside.of(program, backend, outside, replaced)


def find_kinds(
    program: torch.export.ExportedProgram,
    backend: DelegationBackend,
    outside: Collection[DelegatedOp],
) -> list[str]:
    """The kinds of rewrites for ops that a backend left.

    A rewrite of certain ops is found by their names alone; one of any op is tried.

    Args:
        program: that was lowered.
        backend: that left them.
        outside: its ops that stayed outside, those in branches left out.
    """
    left = find_outside(program, backend, outside)
    whole = [rewrite.kind for rewrite in list_rewrites_of_programs(backend) if rewrite.fits(left)]
    edit = ProgramEdit(program, left.ops)
    nodes = [node for node in edit.program.graph.nodes if node.name in left.ops]
    return whole + [
        rewrite.kind
        for rewrite in REWRITES
        if any(
            rewrite.fits(node) and (rewrite.ops or rewrite.try_at(GraphEdit(node, edit)))
            for node in nodes
        )
    ]
