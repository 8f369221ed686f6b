"""Numbers that Python computes of a size, computed by ops: the same numbers, for every size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.sizes.size_numbers import by_ops
from export_engine.shapes import Shapes

HEAD = "import math\nimport numpy as np\nimport torch\ndef f(n, share=0.3):\n"
EXPRESSIONS = (
    *("int(math.log2(n))", "int(2 * math.log(n))", "2 ** int(math.ceil(math.log2(2 * n)))"),
    *("math.isqrt(n)", "round(math.sqrt(n))", "math.gcd(n, 12)", "1 << (n - 1).bit_length()"),
    *("int(np.ceil(np.log(n)))", "np.sqrt(n).astype(int).item()", "np.int64(n // 3)"),
    *("int(n * share)", "int(n / 4 + 0.5)", "math.floor(-n / 3)", "int(-n / 3)", "round(n / 2)"),
    *("int(math.log(n, 3))", "max(1, int(math.log10(n)))", "min(5, math.isqrt(n)) * 2 - n % 3"),
    *("int(np.clip(n // 2, 1, 6))", "math.isqrt(n) ** 2 + math.trunc(n / 7)"),
)


def _run(text: str) -> Any:
    scope: dict[str, Any] = {}
    exec(text, scope)
    return scope["f"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.slow
def test_an_op_computes_the_number_that_python_does(expression: str) -> None:
    text = f"{HEAD}    return {expression}\n"
    made = by_ops(text, 5).text
    theirs, ours = _run(text), _run(made)
    for n in (*range(1, 300), 1023, 1024, 1025, 4095, 4096, 10_000, 65_536):
        assert ours(n) == theirs(n), (n, made)
        assert isinstance(ours(n), int)


@pytest.mark.parametrize(
    "expression",
    [
        *("n // 3", "n + 1", "len(str(n))", "math.sqrt(n)", "sorted([n])[0]", "int(*[n])"),
        *("int(n.abs().sum())", "math.isqrt(n.max())", "int(torch.ones(n).sum() / 2)"),
    ],
)
def test_what_is_no_int_of_an_op_is_left_alone(expression: str) -> None:
    with pytest.raises(Unclear):
        by_ops(f"{HEAD}    return {expression}\n", 5)


def test_ints_that_torch_keeps_symbolic_are_computed_where_all_are_asked_for() -> None:
    made = by_ops(f"{HEAD}    k = max(n // 3, 2)\n    return [k] * k\n", 6, all_ints=True).text
    assert "k = torch.maximum(" in made
    assert [_run(made)(n) for n in (3, 9)] == [[2, 2], [3, 3, 3]]


class Logarithm(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        k = int(math.log2(x.shape[1]))
        return x.topk(k, dim=1)[0].mean(1)


class Root(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side = math.isqrt(x.shape[1])
        grid = x[:, : side * side].reshape(x.shape[0], side, side)
        return grid @ grid


class OfNumpy(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        k = np.ceil(np.log(x.shape[1])).astype("int").item()
        return x.topk(k, dim=1)[0].mean(1)


class PadsToAPower(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = 1 << (x.shape[1] - 1).bit_length()
        return nn.functional.pad(x, (0, whole - x.shape[1])).cumsum(1)


class ConvolvesByFourier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Parameter(torch.linspace(-1, 1, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = 1 << (x.shape[1] + 2 - 1).bit_length()
        product = torch.fft.rfft(x, whole) * torch.fft.rfft(self.filter, whole)
        return torch.fft.irfft(product, whole)[:, : x.shape[1]]


class OneAtAFewSizes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        k = -(-x.shape[1] // 5)
        return x.topk(k, dim=1)[0].mean(1)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "kind", [Logarithm, Root, OfNumpy, PadsToAPower, ConvolvesByFourier, OneAtAFewSizes]
)
def test_a_size_whose_number_is_asked_stays_dynamic(kind: type[nn.Module], strict: bool) -> None:
    request = Request(
        target=kind(), args=(torch.randn(2, 12),), shapes=Shapes.parse("x: b, n"), strict=strict
    )
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report
    assert "Compute a number from the size with torch ops" in report.sentence
    program = report.attempt.program.module()
    for size in (4, 5, 7, 8, 9, 16, 17, 40):
        x = torch.randn(3, size)
        torch.testing.assert_close(program(x), kind()(x))


class KeptByTorch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, : math.floor(x.shape[1] * 0.5)].sum(1)


@pytest.mark.slow
def test_a_number_that_torch_keeps_symbolic_stays_a_symbol() -> None:
    shapes = Shapes.parse("x: b, n")
    report = autofix(Request(target=KeptByTorch(), args=(torch.randn(2, 12),), shapes=shapes))
    assert isinstance(report.attempt, Exported), report
    assert "by an op" not in report.sentence
