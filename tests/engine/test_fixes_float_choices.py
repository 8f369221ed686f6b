"""Choices between floats that data decide: scales of a quantizer, clipped norms."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.branches.float_choices import least_or_most, selected_float
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.shapes import Shapes


class Quantizes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        low, high = min(0.0, x.min().item()), max(x.max().item(), 0.0)
        scale = (high - low) / 255.0
        if scale == 0.0:
            scale = 1.0
        return torch.round(x / scale) * scale + low


class Weighs(nn.Module):
    """0.7 is another number as a float of 32 bits."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = 0.7 if x.double().sum().item() > 0.0 else 0.1
        return x.double() * weight


class Limits(nn.Module):
    """A float that stands there is a number, and turns nothing off."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        spread = x.std().item()
        limit = 3.0 * spread if spread > 0 else 1.0
        return x.clamp(-limit, limit)


class Counts(nn.Module):
    """Its number is an int, or a float: which one shows in the dtype of the result."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        factor = x.float().mean().item()
        if factor < 0.5:
            factor = 1
        return x * factor


OTHERS = (
    torch.zeros(2, 6),
    torch.full((3, 6), -2.0),
    torch.tensor([[float("nan"), 1.0, 2.0]]),
    torch.tensor([[float("inf"), 1.0, -2.0]]),
    torch.randn(7, 2) * 1e-4,
)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [Quantizes, Weighs, Limits])
def test_floats_are_chosen_as_python_chooses_them(kind: type[nn.Module], strict: bool) -> None:
    model = kind()
    shapes = Shapes.parse("x: n, m")
    request = Request(target=model, args=(torch.randn(4, 6),), shapes=shapes, strict=strict)
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    assert "Select the float in line" in report.sentence
    program = report.attempt.program.module()
    for x in OTHERS[: 2 if kind is Weighs or strict else None]:
        torch.testing.assert_close(program(x), model(x), equal_nan=True, rtol=0, atol=0)


@pytest.mark.slow
def test_an_int_is_not_made_a_float() -> None:
    report = autofix(Request(target=Counts(), args=(torch.arange(5),)))
    assert isinstance(report.attempt, Failed)
    assert isinstance(report.first, Failed)
    assert not any("Select the float" in each.title for each in report.first.fixes)


def rewritten(body: str) -> str:
    text = f"import torch\ndef f(x, s, t):\n    {body}\n    return x * s\n"
    try:
        return least_or_most(text, 3).text
    except Unclear:
        return selected_float(text, 3).text


def test_a_choice_of_pythons_order_is_kept() -> None:
    for body in ("s = min(s, 2.5)", "s = max(0.5, s)", "s = min(s, t)", "s = max(s, abs(t))"):
        expected: dict[str, object] = {}
        made: dict[str, object] = {}
        exec(f"import torch\ndef f(x, s, t):\n    {body}\n    return x * s\n", expected)
        exec(rewritten(body), made)
        for s in (-1.0, 0.1, 3.0, float("nan")):
            for t in (0.0, -2.0, float("nan")):
                theirs, ours = (each["f"](2.0, s, t) for each in (expected, made))  # type: ignore[operator]
                assert repr(theirs) == repr(ours), body


@pytest.mark.parametrize(
    "body",
    [
        "s = 1.0 / s if s > 0.0 else 0.0",
        "s = 1 if s == 0.0 else s",
        "s = t.pop() if s == 0.0 else s",
        "s = min(s, 1)",
        "s = min(t)",
        "s = min(s, t, 2.0)",
        "s = min(max(s, 0.0), 1.0)",
        "s = x and min(s, 2.0)",
        "if s > 0.0 and t > 0.0:\n        s = 1.0",
    ],
)
def test_what_may_be_no_float_or_may_fail_stays(body: str) -> None:
    with pytest.raises(Unclear):
        rewritten(body)
