"""What `%export` costs beside bare `torch.export.export`, and how large its Record is.

Budgets: capture, describe and encode together at most 1.15 of the bare export; describe and encode
alone at most 0.05 of it; at most 300 bytes of Record an op. Verify costs at most 3 bare exports,
in time and in CPU time of all its processes.

As run on 2026-11-27 on two cores that others used as well, CPU of Verify: 2.4 bare exports at 4
layers and 1.8 at 32. Before each distinct op was decomposed and exported again once, it was 4.2 to
4.5, and 6.
"""

from __future__ import annotations

import resource
import statistics
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import Record, encode
from export_engine.shapes import Shapes
from export_engine.verify import verify

from ..models import CASES, Case, llama
from .table import Row
from .timing import in_turn, seconds

MODELS = ("bert2", "gpt2_12", "llama32")
LAYERS = (4, 32)
ROUNDS = {"bert2": 10, "gpt2_12": 8, "llama32": 4}


def run() -> list[Row]:
    """The table's rows: one group per model, then Llama-32 decomposed."""
    rows: list[Row] = []
    for name in MODELS:
        attempt = _compare(name, CASES[name](), ROUNDS[name], rows)
        if name == "llama32":
            core = replace(attempt, program=attempt.program.run_decompositions())
            rows += _record_rows(f"{name}, core ATen", core, None)
    for layers in LAYERS:
        rows += _verify_rows(layers)
    return rows


def _verify_rows(layers: int) -> Iterator[Row]:
    """What Verify costs, with all sizes that it tries."""
    case = llama(layers)
    attempt = capture(request_of(case))
    assert isinstance(attempt, Exported)
    record = describe(attempt)
    shapes = torch_shapes(case)
    spent: dict[str, list[float]] = {"bare": [], "ours": []}

    def bare() -> None:
        before = _cpu_seconds()
        torch.export.export(case.model, case.args, dict(case.kwargs), dynamic_shapes=shapes)
        spent["bare"].append(_cpu_seconds() - before)

    def ours() -> None:
        before = _cpu_seconds()
        assert verify(attempt, record).ok
        spent["ours"].append(_cpu_seconds() - before)

    pairs = in_turn(bare, ours, rounds=3)
    of = f"llama of {layers} layers"
    yield Row(
        of,
        "Verify over torch.export.export",
        statistics.median(ours / bare for bare, ours in pairs),
        "bare exports",
        most=3,
        means="saving takes about 0.5, exporting again and decomposing 0.5 each at 4 layers",
    )
    yield Row(
        of,
        "CPU of Verify over torch.export.export",
        statistics.median(ours / bare for bare, ours in zip(*spent.values(), strict=True)),
        "bare exports",
        most=3,
        means="of all processes: what it costs where there is one core",
    )


def _cpu_seconds() -> float:
    """CPU seconds of this process and of the forks that it ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)


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

    pairs = in_turn(bare, ours, rounds)
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
    describing, record = seconds(lambda: describe(attempt), rounds=3)
    encoding, data = seconds(lambda: encode(record), rounds=3)
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
        share = (describing + encoding) / bare_seconds
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
