"""max_pool1d, which torch computes from plain ints, as max_pool2d over rows of height 1."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.calls.max_pool1d import in_two_dimensions
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.shapes import Shapes


class Stack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(4, 4, 3, padding=1), nn.MaxPool1d(2), nn.ReLU(), nn.MaxPool1d(3, 2, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x) * 2


class Function(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.max_pool1d(x, 3, stride=2, padding=1, ceil_mode=True)


class Op(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        step = (2,)
        return torch.max_pool1d(x, (3,), step) + 1


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [Stack, Function, Op])
def test_a_pool_over_a_dynamic_length_keeps_it(kind: type[nn.Module], strict: bool) -> None:
    model = kind().eval()
    shapes = Shapes.parse("x: batch, _, length")
    request = Request(target=model, args=(torch.randn(2, 4, 20),), shapes=shapes, strict=strict)
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    assert "max_pool1d as max_pool2d" in report.kept[0].fix.title
    narrows = [step.fix for step in report.kept if step.fix.narrows]
    assert not narrows or kind is Op, report.sentence  # which keeps 7 and more
    program = report.attempt.program.module()
    for batch, length in ((1, 7), (3, 20), (2, 31)):
        x = torch.randn(batch, 4, length)
        torch.testing.assert_close(program(x), model(x))


@pytest.mark.slow
def test_the_module_itself_is_pooled_so_too() -> None:
    shapes = Shapes.parse("input: batch, _, length")
    report = autofix(Request(target=nn.MaxPool1d(2), args=(torch.randn(2, 4, 9),), shapes=shapes))
    assert isinstance(report.attempt, Exported), report.sentence
    x = torch.randn(2, 4, 14)
    assert torch.equal(report.attempt.program.module()(x), nn.MaxPool1d(2)(x))


TEXT = "import torch\n\ndef f(x, k, s):\n    return {}\n"


@pytest.mark.parametrize("channels", [(3,), (2, 3)])
@pytest.mark.parametrize(("k", "s"), [(2, None), ((3,), 2), (2, []), (4, (3,))])
@pytest.mark.parametrize(
    "call",
    ["torch.max_pool1d(x, k, dilation=2)", "torch.nn.functional.max_pool1d(x, k, s, padding=1)"],
)
def test_both_pool_alike(call: str, k: object, s: object, channels: tuple[int, ...]) -> None:
    text = TEXT.format(call)
    found: dict[str, object] = {}
    exec(text, found)
    made: dict[str, object] = {}
    exec(in_two_dimensions(text, 4).text, made)
    x = torch.randn(*channels, 11)
    assert torch.equal(found["f"](x, k, s), made["f"](x, k, s))  # type: ignore[operator]


@pytest.mark.parametrize(
    "call",
    [
        "torch.max_pool1d(*x)",
        "torch.nn.functional.max_pool1d(x, k, return_indices=True)",
        "torch.max_pool1d_with_indices(x, k)",
        "torch.avg_pool1d(x, k)",
    ],
)
def test_other_calls_are_left_alone(call: str) -> None:
    with pytest.raises(Unclear):
        in_two_dimensions(TEXT.format(call), 4)
