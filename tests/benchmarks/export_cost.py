"""What `%export` costs beside bare `torch.export.export`, and how large its Record is.

Budgets: capture, describe and encode together at most 1.15 of the bare export; describe and encode
alone at most 0.05 of it; at most 300 bytes of Record an op.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import Record, encode
from export_engine.shapes import Shapes

from ..models import CASES, Case
from .table import Row

MODELS = ("bert2", "gpt2_12", "llama32")
ROUNDS = {"bert2": 10, "gpt2_12": 8, "llama32": 4}


def run() -> list[Row]:
    """The table's rows: one group per model, then Llama-32 decomposed."""
    rows: list[Row] = []
    for name in MODELS:
        attempt = _compare(name, CASES[name](), ROUNDS[name], rows)
        if name == "llama32":
            core = replace(attempt, program=attempt.program.run_decompositions())
            rows += _record_rows(f"{name}, core ATen", core, None)
    return rows


def _compare(name: str, case: Case, rounds: int, rows: list[Row]) -> Exported:
    """Bare and recorded exports in turn, so that a drifting machine slows both."""
    request = request_of(case)
    dynamic_shapes = torch_shapes(case)

    def bare() -> Any:
        return torch.export.export(
            case.model, case.args, dict(case.kwargs), dynamic_shapes=dynamic_shapes
        )

    def ours() -> Any:
        attempt = capture(request, lambda progress: None)
        encode(describe(attempt))
        return attempt

    bare(), ours()  # first calls import and compile
    pairs = [_pair(bare, ours, ours_first=bool(number % 2)) for number in range(rounds)]
    attempt = ours()
    ratio = statistics.median(recorded / plain for plain, recorded in pairs)
    rows.append(
        Row(
            name,
            "%export over torch.export.export",
            ratio,
            "×",
            most=1.15,
            means="ours, described and encoded, beside torch's (below 1: we read stacks cheaper)",
        )
    )
    rows.extend(_record_rows(name, attempt, statistics.median(plain for plain, _ in pairs)))
    return attempt


def _record_rows(name: str, attempt: Exported, bare_seconds: float | None) -> list[Row]:
    seconds, record = _seconds(lambda: describe(attempt), rounds=3)
    encoding, data = _seconds(lambda: encode(record), rounds=3)
    nodes = _nodes(record)
    rows = [
        Row(
            name,
            f"Record, bytes an op ({nodes:,} ops)",
            len(data) / nodes,
            "B",
            most=300,
            means="what travels to the page and into the notebook's file",
        )
    ]
    if bare_seconds is not None:
        share = (seconds + encoding) / bare_seconds
        row = Row(
            name,
            "describe + encode over the export",
            share,
            "×",
            most=0.05,
            means="what showing a program costs once it is there",
        )
        rows.insert(0, row)
    return rows


def _nodes(record: Record) -> int:
    return sum(len(graph.name) for graph in record.graphs)


def _pair(
    bare: Callable[[], Any], ours: Callable[[], Any], *, ours_first: bool
) -> tuple[float, float]:
    """Seconds of both; who goes first alternates, since the second finds the machine warmer."""
    if ours_first:
        recorded = _seconds(ours)[0]
        return _seconds(bare)[0], recorded
    return _seconds(bare)[0], _seconds(ours)[0]


def torch_shapes(case: Case) -> Any:
    """The `dynamic_shapes` that torch itself takes; of `**kwargs` it wants each name on its own."""
    shapes = Shapes.parse(case.shapes).to_torch(case.model, case.args, case.kwargs) or {}
    return {**shapes, **shapes.pop("kwargs", {})}


def request_of(case: Case) -> Request:
    return Request(
        target=case.model,
        args=case.args,
        kwargs=case.kwargs,
        shapes=Shapes.parse(case.shapes),
        title="model()",
    )


def _seconds(call: Callable[[], Any], rounds: int = 1) -> tuple[float, Any]:
    """The fastest of some calls, and what the last returned."""
    best = float("inf")
    value = None
    for _ in range(rounds):
        gc.collect()
        started = time.perf_counter()
        value = call()
        best = min(best, time.perf_counter() - started)
    return best, value
