"""Verify decomposes each distinct op of a large program once, and says so."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import explorer
from export_engine.torch_internals import keep_distinct_ops
from export_engine.verify import program_under_test


@torch.library.custom_op("claims::without_a_fake_kernel", mutates_args=())
def without_a_fake_kernel(x: torch.Tensor) -> torch.Tensor:
    return x * 2


class Deep(nn.Module):
    """Equal layers with weights of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(8, 2, 16, batch_first=True) for _ in range(5)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Different(nn.Module):
    """Calls that differ in one thing each: an argument, a dtype, a size, one tensor or two."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        different = [x * y, x * x, x + y, x.add(y, alpha=2), x.sum(0), x.sum(1), x.double() * y]
        different += [x[1:] * y[1:], x.t() * y.t(), x.softmax(0), x.softmax(1)]
        return [*different, *(x.sin() for _ in range(30))]


class Writing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(8):
            x = (x * 2).add_(1)
        return x


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_under_test, "LARGE", 1)


def explored(model: nn.Module, *args: torch.Tensor) -> explorer.Exploration:
    return explorer.explore(model.eval(), args)


def decomposed_of(exploration: explorer.Exploration) -> tuple[str, str]:
    guarantees = {each.name: each for each in exploration.verify().guarantees}
    return guarantees["decomposed"].verdict, guarantees["decomposed"].sentence


@pytest.mark.usefixtures("everything_is_large")
def test_equal_layers_are_decomposed_once() -> None:
    verdict, sentence = decomposed_of(explored(Deep(), torch.randn(2, 3, 8)))
    assert verdict == "holds"
    assert sentence.startswith("Agrees: the ")
    assert "distinct ops of" in sentence


def test_calls_that_differ_are_kept_apart() -> None:
    x, y = torch.randn(3, 3), torch.randn(3, 3)
    program = explored(Different(), x, y).program
    distinct = keep_distinct_ops(program)
    assert distinct is not None
    targets = [str(n.target) for n in distinct.graph.nodes if n.op == "call_function"]
    assert targets.count("aten.sin.default") == 1
    calls = sum(n.op == "call_function" for n in program.graph.nodes)
    assert len(targets) == calls - 31  # 29 sines, a slice and a transpose


@pytest.mark.usefixtures("everything_is_large")
def test_a_program_that_writes_is_decomposed_whole() -> None:
    exploration = explored(Writing(), torch.randn(3))
    assert keep_distinct_ops(exploration.program) is None
    assert decomposed_of(exploration) == ("holds", "Agrees: 16 ops became 16.")


@pytest.mark.usefixtures("everything_is_large")
def test_an_op_that_torch_cannot_decompose_is_said_of_the_whole_program() -> None:
    exploration = explored(Different(), torch.randn(3, 3), torch.randn(3, 3))
    last = next(n for n in reversed(exploration.program.graph.nodes) if n.name.startswith("sin"))
    last.target = torch.ops.claims.without_a_fake_kernel.default
    verdict, sentence = decomposed_of(exploration)
    assert verdict == "broken"
    assert "without_a_fake_kernel" in sentence
