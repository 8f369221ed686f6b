"""What the shape contract costs: recording guards, and describing them.

Budgets: recording at most 0.05 of the export of a model with over 300 guards; the contract of a
program of about 4,000 ops described in at most 0.02 of its export.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import attempt_record, describe
from export_engine.describe.shape_contract import describe_contract
from export_engine.findings import find_findings
from export_engine.shapes import Shapes
from export_engine.torch_internals import recording
from export_engine.trace import Recording

from ..models import llama
from .export_cost import request_of
from .table import Row
from .timing import in_turn, seconds

ROUNDS = 10
BRANCHES = 320


class Branches(nn.Module):
    """Asks about sizes over and over, another thing each time."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number in range(BRANCHES):
            if x.shape[0] * (number + 3) + x.shape[1] < 10**6 + number:
                x = x + number
        return x


def run() -> list[Row]:
    """The table's rows."""
    return [*_guards(), *_described()]


def _guards() -> list[Row]:
    """The same export with and without the hooks on guards, in turn."""
    x = torch.ones(7, 5)
    shapes = Shapes.parse("x: *, *")
    model = Branches()
    request = Request(target=model, args=(x,), dynamic_shapes=shapes)
    attempt = capture(request)
    assert isinstance(attempt, Exported)
    specs = shapes.to_torch(model, (x,), {})

    def export() -> Any:
        return torch.export.export(model, (x,), dynamic_shapes=specs)

    def recorded() -> Any:
        with recording(Recording()):
            return export()

    ratios = [ours / bare for bare, ours in in_turn(export, recorded, ROUNDS)]
    name = f"{len(attempt.recording.guards)} guards"
    return [
        Row(
            name,
            "export with recording over without",
            statistics.median(ratios),
            "×",
            most=1.05,
            means="what it costs to note each guard and its line while torch traces",
        )
    ]


def _described() -> list[Row]:
    """The contract of a long program, and all findings, beside its export."""
    case = llama(64)
    started = time.perf_counter()
    attempt = capture(request_of(case))
    assert isinstance(attempt, Exported)
    exported = time.perf_counter() - started
    record = describe(attempt)
    ops = sum(node.op == "call_function" for node in attempt.program.graph.nodes)
    contract = statistics.median(_contract_seconds(attempt) for _ in range(3))
    findings = _median(lambda: find_findings(attempt, record))
    name = f"llama, 64 layers, {ops:,} ops"
    return [
        Row(
            name,
            "shape contract over the export",
            contract / exported,
            "×",
            most=0.02,
            means="what the Shapes pane costs: symbols, ranges, guards and their lines",
        ),
        Row(
            name,
            "findings over the export",
            findings / exported,
            "×",
            means="what looking for faults in a program that exported costs",
        ),
    ]


def _contract_seconds(attempt: Exported) -> float:
    """What describing the contract takes of describing the attempt."""
    spent: list[float] = []

    def timed(*args: Any) -> Any:
        taken, found = seconds(lambda: describe_contract(*args))
        spent.append(taken)
        return found

    with patch.object(attempt_record, "describe_contract", timed):
        describe(attempt)
    return spent[0]


def _median(call: Callable[[], Any]) -> float:
    return statistics.median(seconds(call)[0] for _ in range(3))
