"""The sizes that Verify tries, with as many as it tries by itself."""

from __future__ import annotations

import inspect

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import probe_sizes
from export_engine.shapes import Shapes
from export_engine.verify import Subject, verify
from export_engine.verify.contract_sampling import plan_sizes

SHAPES = {
    "one dim": ("x: a[4..60], _, _", [4], [60]),
    "two dims": ("x: a[4..60], b[6..20], _", [4, 6], [60, 20]),
    "three dims": ("x: a[4..12], b[6..20], c[3..9]", [4, 6, 3], [12, 20, 9]),
    "derived": ("x: 2*a, _, _", [2], []),
}


class Passes(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu()


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_corners_are_among_them_and_all_are_within(name: str) -> None:
    text, low, high = SHAPES[name]
    shapes = Shapes.parse(text)
    attempt = capture(Request(target=Passes(), args=(torch.ones(8, 8, 8),), dynamic_shapes=shapes))
    assert isinstance(attempt, Exported)
    record = describe(attempt)
    by_itself = inspect.signature(verify).parameters["sizes"].default

    found = plan_sizes(Subject(attempt, record, by_itself), by_itself).tried

    varying = len(low)
    tried = [sizes[:varying] for sizes in found]
    assert all(probe_sizes(record.probe, sizes).verdict == "accepted" for sizes in found)
    assert low in tried
    assert not high or high in tried
    assert len(found) > 5
