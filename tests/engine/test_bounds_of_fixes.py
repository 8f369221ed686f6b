"""A bound that a fix set is said to be the fix's; what was asked for stays the user's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.fixes import autofix
from export_engine.shapes import Shapes


class Valid(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x).relu()


@pytest.mark.parametrize(
    "shapes",
    [
        Shapes.parse("x: _, _, height, width[..512]"),
        {"x": {2: Dim("height"), 3: Dim("width", max=512)}},
    ],
    ids=["language", "Dims"],
)
@pytest.mark.slow
def test_a_bound_names_the_fix_and_its_line(shapes: Any) -> None:
    report = autofix(
        capture(Request(target=Valid(), args=(torch.randn(2, 3, 32, 48),), shapes=shapes))
    )
    assert isinstance(report.attempt, Exported), report

    symbols = {each.name: each for each in describe(report.attempt).symbols}
    found = {
        (name, bound.side): (bound.origin, bound.text)
        for name, symbol in symbols.items()
        for bound in symbol.bounds
    }
    origin, text = found["height", "lower"]
    assert origin == "fix"
    assert text.startswith("by the fix Bound height ≥ ")
    assert "test_bounds_of_fixes.py:" in text
    assert found["width", "upper"][0] == "dim"
