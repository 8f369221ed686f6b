"""Whether another form of the program under test is the same program, by the proof of a diff."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch

from export_engine.attempt import Exported
from export_engine.describe import describe
from export_engine.diff import prove_identical
from export_engine.record import Record


class ProgramDifference(NamedTuple):
    """The first difference of two programs."""

    text: str
    node: str
    """The node of the program under test; empty where it has none."""


def find_difference(
    exported: Exported,
    program: torch.export.ExportedProgram,
    record: Record | None = None,
    *,
    renamed: bool = False,
) -> ProgramDifference | None:
    """The first difference from a program; None if they are the same up to names.

    Args:
        exported: the program under test.
        program: another form of it, such as the one that is loaded from a file.
        record: the program under test, described, if it is already.
        renamed: whether its weights may have other names.
    """
    record = describe(exported) if record is None else record
    form = replace(exported, program=program, agreement=None, kept=None)
    other = describe(form)
    proof = prove_identical(record, other, same_objects=True)
    if proof.renamed and not renamed:
        old, new = map(_name, (record, other), proof.renamed[0])
        return ProgramDifference(f"{old} is renamed to {new}", old)
    mismatch = proof.mismatch
    if mismatch is None:
        return None
    graph, node = mismatch.graphs[0], mismatch.node
    name = _name(record, node, graph)
    if node < 0:
        return ProgramDifference(f"the other also has {mismatch.after}", "")
    if mismatch.after:
        text = f"{name}: {mismatch.what} {mismatch.after} instead of {mismatch.before}"
    else:
        text = f"{name} is missing"
    outer = _find_main_node(record, graph, node)
    return ProgramDifference(text[:400], _name(record, outer))


def _find_main_node(record: Record, graph: int, node: int) -> int:
    """The node of the main graph that a node of a nested one is run by."""
    runs = {
        inner.graph: (number, inner.node)
        for number, graph in enumerate(record.graphs)
        for inner in graph.nested
    }
    while graph:
        graph, node = runs[graph]
    return node


def _name(record: Record, node: int, graph: int = 0) -> str:
    return record.strings[record.graphs[graph].name[node]]
