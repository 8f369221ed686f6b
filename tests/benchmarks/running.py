"""Real models run by every backend that is installed, and what a run of ours adds to a call.

Each model's table is printed as `ex.run` prints it. Budgets: the median that we report within 2 %
of that of a bare call; every output within the tolerance; every planted fault located to its op.
ExecuTorch lowers models of some hundred ops for minutes, so those are left to the others, and the
table says so.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

import explorer
from export_engine.attempt import Exported
from export_engine.record import RunRow
from export_engine.run import backend_registry, devices
from export_engine.run.backend import Job, Ready

from ..models import CASES, Case
from .table import Row

MODELS = ("bert2", "gpt2_12", "llama32")
ON_GPU = ("eager", "program", "inductor", "aoti")
MANY = 500
"""Ops, from which on ExecuTorch is left out."""
ROUNDS = 12


class Vision(nn.Module):
    """Two convolutions, and a branch on what is seen."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.body = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.bright, self.dark = nn.Linear(32, 10), nn.Linear(32, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        y = self.body(self.stem(image).relu()).relu().mean((2, 3))
        scores: torch.Tensor = torch.cond(image.mean() > 0, self.bright, self.dark, (y,))
        return scores.softmax(-1)


def vision() -> Case:
    """A small vision model with a cond."""
    image = torch.randn(4, 3, 64, 64)
    return Case(Vision().eval(), (image,), shapes="image: batch[2..64], _, _, _")


def run() -> list[Row]:
    """The table's rows; the runs' own tables are printed as they come."""
    rows: list[Row] = []
    for name in (*MODELS, "vision with cond"):
        rows += _model(name, CASES[name]() if name in CASES else vision())
    return [*rows, _overhead(), _located()]


def _model(name: str, case: Case) -> list[Row]:
    explored = explorer.explore(
        case.model, case.args, case.kwargs, dynamic_shapes=case.shapes or None, title=name
    )
    attempt = explored.session.attempts[-1]
    assert isinstance(attempt, Exported), name
    too_many = len(attempt.program.graph.nodes) >= MANY
    able = [each.name for each in backend_registry.backends().values() if not each.missing("cpu")]
    on_cpu = [each for each in able if not (too_many and each == "executorch")]
    rows: list[Row] = []
    for device in devices():
        table = explored.run(device, on_cpu if device == "cpu" else ON_GPU)
        print(f"\n{name}\n{table}", flush=True)
        rows += _figures(name, device, list(table.rows), len(able) > len(on_cpu))
    return rows


def _figures(name: str, device: str, found: list[RunRow], left_out: bool) -> list[Row]:
    """How many agree, then time and error of each beside the model itself."""
    off = [row.backend for row in found if row.outcome != "agrees"]
    without = ", ExecuTorch left out" if left_out and device == "cpu" else ""
    rows = [
        Row(
            name,
            f"backends on {device} that agree with eager, of {len(found)}{without}",
            1 - len(off) / len(found),
            "share",
            least=1,
            means=f"these do not, or failed: {', '.join(off)}"
            if off
            else "what each gives is what the model gives, within the tolerance",
        )
    ]
    eager = next((row.times for row in found if row.backend == "eager"), None)
    for row in found:
        if row.backend == "eager" or row.times is None or row.error is None or eager is None:
            continue
        rows += [
            Row(
                name,
                f"{row.backend} on {device}, time over eager",
                row.times.median / eager.median,
                "×",
                means="a warm call beside the model's own: below 1 is faster",
            ),
            Row(
                name,
                f"{row.backend} on {device}, largest error",
                row.error.absolute,
                "absolute",
                means="the farthest that a number in its outputs is from the model's",
            ),
        ]
    return rows


def _overhead() -> Row:
    """What our eager run says a call takes, over the same calls bare: in turn, medians of many."""
    model = nn.Sequential(*(nn.Linear(256, 256) for _ in range(8))).eval()
    x = torch.randn(32, 256)
    explored = explorer.explore(model, (x,))
    ratios = []
    for number in range(ROUNDS):
        pair: list[Callable[[], float]] = [lambda: _bare(model, x), lambda: _ours(explored)]
        first, second = pair[number % 2], pair[1 - number % 2]
        one, other = first(), second()
        bare, ours = (one, other) if number % 2 == 0 else (other, one)
        ratios.append(ours / bare)
    return Row(
        "8 linear layers",
        "a run's median over a bare call's",
        _median(ratios),
        "×",
        most=1.02,
        means="what our clock adds to the time it reports",
    )


def _ours(explored: explorer.Exploration) -> float:
    (row,) = explored.run(backend="eager").rows
    assert row.times is not None
    return row.times.median


def _bare(model: nn.Module, x: torch.Tensor, seconds: float = 0.4) -> float:
    """The median of bare calls, each with a clock around it."""
    found = []
    with torch.no_grad():
        model(x)
        started = time.perf_counter()
        while time.perf_counter() - started < seconds:
            before = time.perf_counter()
            model(x)
            found.append(time.perf_counter() - before)
    return _median(found)


def _median(values: list[float]) -> float:
    return statistics.median(values)


class _Faulty:
    """The program, with the twentieth op that gives a tensor a little off."""

    name = title = "faulty"
    at = ""

    def missing(self, device: str) -> str | None:
        return None

    def prepare(self, job: Job) -> Ready:
        module: Any = job.program.module()
        at = self.at

        class Off(torch.fx.Interpreter):
            def run_node(self, n: torch.fx.Node) -> Any:
                result = super().run_node(n)
                return result * 1.5 if n.name == at else result

        def call() -> Any:
            flat = module.graph.process_inputs(*job.args, **job.kwargs)
            found = Off(module).run(*flat, enable_io_processing=False)
            return module.graph.process_outputs(found)

        return Ready(call=call)


def _located() -> Row:
    """Faults planted all over BERT's graph, one at a time: the share located to their op."""
    case = CASES["bert2"]()
    explored = explorer.explore(case.model, case.args, dynamic_shapes=case.shapes)
    attempt = explored.session.attempts[0]
    assert isinstance(attempt, Exported)
    names = [node.name for node in attempt.program.graph.nodes]
    layers = [name for name in names if name.startswith(("linear", "layer_norm", "gelu", "tanh"))]
    right = 0
    built_in = backend_registry.BUILT_IN
    backend_registry.BUILT_IN = (*built_in, _Faulty)
    try:
        for name in layers:
            _Faulty.at = name
            with tempfile.TemporaryDirectory() as folder:
                (row,) = explored.run(backend="faulty", folder=Path(folder)).rows
            right += row.node >= 0 and names[row.node] == name
    finally:
        backend_registry.BUILT_IN = built_in
    return Row(
        "bert2",
        f"planted faults located, of {len(layers)}",
        right / len(layers),
        "share",
        least=1,
        means="one op made wrong at a time: how often the run names that very op",
    )
