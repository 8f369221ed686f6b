"""What the kernel does with programs of 10,000 and 100,000 ops, and what a report of 4,000 costs.

In CPU time. The Records are grown from one that was exported: see `grown`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import explorer
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.diff import diff_records
from export_engine.query import query
from export_engine.record import encode

from ..models import llama
from .export_cost import request_of
from .grown import grown
from .table import Row

BUDGETS = {10_000: (0.2, 1.0, 0.1), 100_000: (2.0, 10.0, 1.0)}
"""By the number of ops, seconds to encode, to compare and to query."""
REPORTED = 60
"""Layers of the Llama in the report: about 4,000 ops."""


def run() -> list[Row]:
    """The table's rows."""
    return [*_records(), *_report()]


def _records() -> Iterable[Row]:
    record = describe(capture(request_of(llama(2))))
    for ops, budgets in BUDGETS.items():
        for name, scopes in (("Llama", True), ("flat", False)):
            one = grown(record, ops, scopes=scopes)
            other = grown(record, ops + ops // 20, scopes=scopes)
            subject = f"{name}, {ops:,} ops"
            encoding, data = _seconds(lambda one=one: encode(one))
            comparing, _ = _seconds(lambda one=one, other=other: diff_records(one, other))
            asking, _ = _seconds(lambda one=one: query(one, "op:linear & dtype:f32"))
            for what, seconds, most in zip(
                ("encode", "diff beside one of 5 % more ops", "query"),
                (encoding, comparing, asking),
                budgets,
                strict=True,
            ):
                yield Row(subject, what, seconds, "s", most=most, means="how long the kernel works")
            yield Row(
                subject, "Record", len(data) / ops, "bytes/op", most=300, means="what is sent"
            )


def _report() -> Iterable[Row]:
    case = llama(REPORTED)
    shown = explorer.explore(case.model, case.args, dict(case.kwargs), dynamic_shapes=case.shapes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        shown.save(path)  # imports
        seconds, _ = _seconds(lambda: shown.save(path))
    ops = len(shown.record.graphs[0].name)
    yield Row(
        f"llama, {ops:,} ops",
        "report in one HTML file",
        seconds,
        "s",
        most=1.0,
        means="how long it takes to write",
    )


def _seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and what came of it."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result
