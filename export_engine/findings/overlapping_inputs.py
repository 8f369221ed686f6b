"""Inputs that share memory in the example."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import torch

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind, share_memory
from export_engine.findings.record_ops import Op
from export_engine.findings.writes import inputs_written
from export_engine.record import Record
from export_engine.source import Stack
from export_engine.traced_sizes import leaf_values


def check_overlapping_inputs(exported: Exported, record: Record) -> Iterator[Finding]:
    """One finding per two inputs that overlap."""
    overlapping = list(_overlapping(exported))
    writes = inputs_written(record) if overlapping else {}
    for one, other in overlapping:
        yield _overlap(one, other, writes)


def _overlapping(exported: Exported) -> Iterator[tuple[str, str]]:
    if exported.request is None:
        return
    tensors = [
        (path, value)
        for path, value in leaf_values(exported.request).items()
        if isinstance(value, torch.Tensor)
    ]
    for (one, first), (other, second) in combinations(tensors, 2):
        if first is not second and share_memory(first, second):
            yield one, other


def _overlap(one: str, other: str, writes: dict[str, Op | None]) -> Finding:
    written = next((path for path in (one, other) if path in writes), None)
    op = writes[written] if written else None
    stack: Stack = op.stack if op is not None else ()
    if written is None:
        why = rules.OverlappingInputs.READ_WHY()
    else:
        why = rules.OverlappingInputs.WRITTEN_WHY(written=written)
    return Finding(
        kind=Kind.OVERLAPPING_INPUTS,
        severity="note" if written is None else "wrong",
        sentence=rules.OverlappingInputs.SENTENCE(one=one, other=other),
        why=why,
        stack=stack,
        node=op.position if op is not None else -1,
    )
