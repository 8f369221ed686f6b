"""How long each op outside and each partition takes, in ExecuTorch's runtime here."""

from __future__ import annotations

import copy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch

from export_engine.record import InnerTime
from export_engine.run import Job, iter_instructions, pair_instructions, trace_calls

CALLS = 10
"""Calls that are measured, after one that is not."""
_CALL = "Method::execute"


@dataclass(frozen=True, kw_only=True)
class Times:
    """Microseconds, medians over the calls."""

    call: float
    nodes: dict[str, float]
    """Per node of the lowered main graph: an op outside, or the call of a partition."""
    inner: dict[str, list[InnerTime]]
    """Per call of a partition: the delegate's own ops, in the order in which they run."""


def measure_program(ready: Any, program: torch.export.ExportedProgram) -> Times:
    """Runs a lowered program by ExecuTorch's event tracer.

    Args:
        ready: what `to_executorch` made.
        program: what was lowered, with the example's inputs, of which a copy is used.
    """
    args, kwargs = copy.deepcopy(program.example_inputs or ((), {}))
    with tempfile.TemporaryDirectory() as folder:
        job = Job(
            program=program, model=None, args=args, kwargs=kwargs, device="cpu", folder=Path(folder)
        )
        events = trace_calls(ready, job, CALLS + 1, 0)
    steps = [
        (
            _microseconds(event),
            [InnerTime(name=str(part.name), microseconds=_microseconds(part)) for part in inner],
        )
        for event, inner in iter_instructions(events)
    ]
    nodes = list(ready.exported_program().graph.nodes)
    paired = [(node.name, step) for node, step in pair_instructions(nodes, steps)]
    call = [_microseconds(event) for event in events if event.name == _CALL]
    return Times(
        call=call[0] if call else -1.0,
        nodes={name: took for name, (took, _) in paired},
        inner={name: inner for name, (_, inner) in paired if inner},
    )


def _microseconds(event: Any) -> float:
    """The median of an event's times, without the first call's; they are milliseconds."""
    raw = list(event.perf_data.raw) if event.perf_data is not None else []
    return 1000 * median(raw[1:] or raw) if raw else -1.0
