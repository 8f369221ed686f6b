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
from export_engine.fixes.code.try_edit import both_titles
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
        capture(Request(target=Valid(), args=(torch.randn(2, 3, 32, 48),), dynamic_shapes=shapes))
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


def test_titles_of_several_fixes_are_one_list() -> None:
    both = both_titles("Copy this, and copy that", "Treat 0 like any other, and keep guards")
    assert both == "Copy this, copy that, treat 0 like any other, and keep guards"
    assert both_titles("Keep it", "Bound n ≥ 2") == "Keep it, and bound n ≥ 2"


class AddsAFlag(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + (x.sum() > 0).item()


def test_a_bool_from_data_is_no_size() -> None:
    found = capture(Request(target=AddsAFlag(), args=(torch.rand(3),)))
    assert isinstance(found, Exported)
    (symbol,) = describe(found).symbols
    assert {each.text for each in symbol.bounds} == {"it is 0 or 1, as a bool is"}


class Letterboxes(nn.Module):
    """`min` of two floats is a symbol in strict mode, and a guard in the other."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, w = x.shape[-2:]
        ratio = min(32 / h, 32 / w)
        return nn.functional.interpolate(x, (round(h * ratio), round(w * ratio)))


@pytest.mark.slow
def test_the_other_mode_is_asked_where_every_fix_rejects_sizes() -> None:
    shapes = Shapes.parse("x: _, _, h, w")
    report = autofix(
        Request(target=Letterboxes(), args=(torch.rand(1, 3, 20, 30),), dynamic_shapes=shapes)
    )
    assert isinstance(report.attempt, Exported)
    assert [step.fix.kind for step in report.kept] == ["mode"], report
    for h, w in ((30, 20), (20, 20), (9, 40)):
        x = torch.rand(1, 3, h, w)
        program = report.attempt.program.module()
        torch.testing.assert_close(program(x), Letterboxes()(x))
