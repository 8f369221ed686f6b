"""What a failure costs that is not cured: CPU time until all fixes are tried, in bare exports.

The models are deep, so that an export takes a second or more; they fail at their last line.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from export_engine.attempt import Failed, Request
from export_engine.capture import capture, quiet
from export_engine.fixes import explain
from export_engine.shapes import Shapes

from .table import Row

Tensor = torch.Tensor
_LAYERS = 14


class Deep(nn.Module):
    """Layers enough, and then what fails."""

    def __init__(self, last: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(8, 2, 16, batch_first=True) for _ in range(_LAYERS)
        )
        self.last = last

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.last(x)


def loop_over_rows(x: Tensor) -> Tensor:
    state = x[0]
    for row in x[1:]:
        state = torch.cat([state, row])[: state.shape[0]] * 0.5
    return state


def branch_with_effects(x: Tensor) -> Tensor:
    if x.sum() > 0:
        print(x.tolist())
        return x[:1]
    return x


def same_as_zero(x: Tensor) -> Tensor:
    return x * 2 if torch.equal(x, x * 0) else x


def count_of_data(x: Tensor) -> Tensor:
    return sum(x * n for n in range(int(x.abs().sum()) + 1))


def plain_number(x: Tensor) -> Tensor:
    table = {4: 0.5, 5: 0.25}
    return x * table.get(int(x.shape[0]), 1.0)


_CASES: dict[str, tuple[Callable[[Tensor], Tensor], str | None]] = {
    "a loop over a size": (loop_over_rows, "x: batch, _, _"),
    "a branch with effects": (branch_with_effects, None),
    "an op that gives a bool": (same_as_zero, None),
    "a loop over a number from data": (count_of_data, None),
    "a lookup by a size": (plain_number, "x: batch, _, _"),
}


def cost_of(last: Callable[[Tensor], Tensor], shapes: str | None) -> tuple[float, float, int]:
    """CPU seconds of the bare export, those of the failure beside it, and the fixes found."""
    x = (torch.randn(4, 5, 8),)
    wanted: Any = Shapes.parse(shapes) if shapes else None
    bare = Deep(torch.sin).eval()
    with quiet():
        started = time.process_time()
        given = wanted.to_torch(bare, x, {}) if wanted else None
        torch.export.export(bare, x, dynamic_shapes=given)
        taken = time.process_time() - started
        started = time.process_time()
        attempt = capture(Request(target=Deep(last).eval(), args=x, shapes=wanted))
        assert isinstance(attempt, Failed)
        found = explain(attempt)
    return taken, (time.process_time() - started) / taken, len(found.fixes)


def run() -> list[Row]:
    """Each kind of failure."""
    rows, ratios = [], []
    for name, (last, shapes) in _CASES.items():
        seconds, ratio, fixes = cost_of(last, shapes)
        ratios.append(ratio)
        rows.append(
            Row("a failure", name, ratio, "bare exports", most=5,
                means=f"of {seconds:.1f} s CPU time each; {fixes} fixes found")
        )  # fmt: skip
    rows.append(
        Row("failures", "until all fixes are tried, median", statistics.median(ratios),
            "bare exports", most=3, means="the failing export itself is among them")
    )  # fmt: skip
    return rows
