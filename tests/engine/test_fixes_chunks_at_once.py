"""Chunks that only bound how much memory is used are computed at once; others stay chunks."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.chunks_at_once import without_chunks
from export_engine.shapes import Shapes


class Feeds(nn.Module):
    """In chunks of a number of tokens, as for long inputs on small devices."""

    def __init__(self, size: int = 16) -> None:
        super().__init__()
        self.linear, self.size = nn.Linear(8, 8), size

    def feed(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(x))


class BySlices(Feeds):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = []
        for i in range(0, x.shape[1], self.size):
            out.append(self.feed(x[:, i : i + self.size]))
        return torch.cat(out, 1)


class ByName(Feeds):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        chunks = torch.split(x, self.size, dim=1)
        return torch.cat([self.feed(each) for each in chunks], 1)


class InPairs(Feeds):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pairs = [self.feed(a) + b for a, b in zip(x.split(16, 1), x.split(16, 1), strict=True)]
        return torch.cat(pairs, 1)


class Attends(nn.Module):
    """To all keys, some queries at a time."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out, n = torch.zeros_like(x), x.shape[1]
        for start in range(0, n, 16):
            end = min(start + 16, n)
            weights = (x[:, start:end] @ x.transpose(1, 2)).softmax(-1)
            out[:, start:end] = weights @ x
        return out


class AttendsWithin(nn.Module):
    """To the keys of its own chunk alone."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = []
        for i in range(0, x.shape[1], 16):
            own = x[:, i : i + 16]
            out.append((own @ own.transpose(1, 2)).softmax(-1) @ own)
        return torch.cat(out, 1)


def fixed(model: nn.Module, size: int = 40) -> Any:
    shapes = Shapes.parse("x: batch, n, _")
    return autofix(Request(target=model.eval(), args=(torch.randn(2, size, 8),), shapes=shapes))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [BySlices, ByName, InPairs, Attends])
def test_chunks_are_computed_at_once_for_any_size(kind: type[nn.Module]) -> None:
    model = kind()
    report = fixed(model)

    assert isinstance(report.attempt, Exported), report
    (step,) = report.kept
    assert step.fix.title.startswith("Compute the chunks of line ")
    assert not step.fix.narrows
    for size in (5, 16, 33, 100):
        x = torch.randn(3, size, 8)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "size"), [(AttendsWithin(), 40), (BySlices(64), 40)])
def test_chunks_that_matter_or_are_not_seen_to_be_several_stay(model: nn.Module, size: int) -> None:
    report = fixed(model, size)

    assert not any("chunks" in step.fix.title for step in report.steps)


def texts(*lines: str) -> tuple[str, str]:
    """What becomes of the first line's chunks, and of the text that looks for several."""
    body = "".join(f"    {line}\n" for line in lines)
    made, probe = without_chunks(f"def f(x, n, k, out):\n{body}", 2)
    return made.text, probe.text


def test_a_loop_over_positions_becomes_one_over_0() -> None:
    made, probe = texts(
        "for i in range(0, n, k):", "    out[:, i : i + k] = x[i:min(k + i, n)] * 2"
    )

    assert "for i in (0,):\n" in made
    assert "out[:, i :] = x[i:n] * 2" in made.replace("i:]", "i :]")
    assert "for i in (range(0, n, k) if len(range(0, n, k)) < 2 else " in probe


def test_what_makes_as_many_chunks_as_a_size_says_becomes_one() -> None:
    made, _ = texts("parts = tuple(each.chunk(n // k, dim=1) for each in x)")
    assert "parts = tuple((each,) for each in x)" in made
    made, _ = texts("return [p + 1 for p in torch.split(x + 1, k)]")
    assert "[p + 1 for p in (x + 1,)]" in made


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(0, n, k):\n    out += x[:, i : i + k] * i",
        "for i in range(1, n, k):\n    out += x[:, i : i + k]",
        "for i in range(0, n, k):\n    out += x[:, i]",
        "a, b = x.split(k, 1)",
        "parts = x.chunk(3)",
        "parts = x.sum(1)",
    ],
)
def test_other_loops_are_left(text: str) -> None:
    with pytest.raises(Unclear):
        texts(*dedent(text).split("\n"))
