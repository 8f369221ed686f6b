"""What a failure costs that is not cured: CPU time until all fixes are tried, in bare exports.

The models are deep, so that an export takes a second or more; they fail at their last line.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

from export_engine.attempt import Failed, Request
from export_engine.capture import capture, quiet
from export_engine.fixes import explain
from export_engine.shapes import Shapes

from .table import Row

Tensor = torch.Tensor
_LAYERS = 32


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


_SEEN: list[list[float]] = []


def branch_with_effects(x: Tensor) -> Tensor:
    if x.max() > 2:
        _SEEN.append(x.tolist())
        return x[:1]
    return x


def same_as_zero(x: Tensor) -> Tensor:
    return x * 2 if torch.equal(x, x * 0) else x


def count_of_data(x: Tensor) -> Tensor:
    return sum(x * n for n in range(int(x.abs().sum()) + 1))


def plain_number(x: Tensor) -> Tensor:
    table = {4: 0.5, 5: 0.25}
    return x * table.get(int(x.shape[0]), 1.0)


def sorted_by_data(x: Tensor) -> Tensor:
    order = sorted(range(4), key=lambda row: float(x[row].max()))
    return torch.stack([x[row] for row in order])


def scale_by_text(x: Tensor) -> Tensor:
    scales = {"1.0": 0.5, "2.0": 0.25, "3.0": 0.125}
    return x * scales[str(x.max().round().item())]


def same_length_as_heads(x: Tensor) -> Tensor:
    scores = x.flatten(1) @ x.flatten(1).T
    return scores.reshape(2, -1, x.shape[0]).softmax(-1) + x.new_zeros(4)


def through_json(x: Tensor) -> Tensor:
    return x * float(json.loads(json.dumps({"scale": x.max().item()}))["scale"])


class _Case(NamedTuple):
    last: Callable[[Tensor], Tensor]
    shapes: str | None = None
    strict: bool = False


_DYNAMIC = "x: batch, _, _"
_CASES: dict[str, _Case] = {
    "a loop over a size": _Case(loop_over_rows, _DYNAMIC),
    "a branch with effects": _Case(branch_with_effects),
    "an op that gives a bool": _Case(same_as_zero),
    "a loop over a number from data": _Case(count_of_data),
    "a lookup by a size": _Case(plain_number, _DYNAMIC),
    "rows sorted by data": _Case(sorted_by_data),
    "a number from data as text": _Case(scale_by_text),
    "a size that is a fixed one": _Case(same_length_as_heads, _DYNAMIC),
    "JSON of a number, strict": _Case(through_json, strict=True),
}


def cost_of(case: _Case) -> tuple[float, float, int]:
    """CPU seconds of the bare export, those of the failure beside it, and the fixes found."""
    x = (torch.randn(4, 5, 8),)
    wanted: Any = Shapes.parse(case.shapes) if case.shapes else None
    bare = Deep(torch.sin).eval()
    with quiet():
        started = time.process_time()
        given = wanted.to_torch(bare, x, {}) if wanted else None
        torch.export.export(bare, x, dynamic_shapes=given, strict=case.strict)
        taken = time.process_time() - started
        started = time.process_time()
        model = Deep(case.last).eval()
        attempt = capture(Request(target=model, args=x, dynamic_shapes=wanted, strict=case.strict))
        assert isinstance(attempt, Failed)
        found = explain(attempt)
    return taken, (time.process_time() - started) / taken, len(found.fixes)


def run() -> list[Row]:
    """Each kind of failure."""
    rows, ratios = [], []
    for name, case in _CASES.items():
        seconds, ratio, fixes = cost_of(case)
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
