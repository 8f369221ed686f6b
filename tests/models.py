"""Models that tests and benchmarks export: real architectures from configs, with random weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.shapes import Shapes


class Case(NamedTuple):
    """A call to export."""

    model: torch.nn.Module
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = MappingProxyType({})
    shapes: str = ""
    """Dynamic shapes in the short language."""


def bert2() -> Case:
    """BERT with 2 layers."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        num_hidden_layers=2,
        hidden_size=64,
        num_attention_heads=4,
        intermediate_size=128,
        vocab_size=500,
    )
    return Case(BertModel(config).eval(), (_tokens(2, 16),), shapes="input_ids: batch, seq[2..512]")


def gpt2(layers: int) -> Case:
    """GPT-2 with hidden size 64 and as many layers as asked for."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_layer=layers, n_embd=64, n_head=4, vocab_size=500)
    return Case(
        GPT2LMHeadModel(config).eval(),
        (_tokens(2, 16),),
        {"use_cache": False},
        "input_ids: batch, seq[2..1024]",
    )


def gpt2_2() -> Case:
    """GPT-2 with 2 layers."""
    return gpt2(2)


def gpt2_12() -> Case:
    """GPT-2 with 12 layers."""
    return gpt2(12)


def llama(layers: int) -> Case:
    """Llama with hidden size 64 and as many layers as asked for."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        num_hidden_layers=layers,
        hidden_size=64,
        num_attention_heads=4,
        num_key_value_heads=4,
        intermediate_size=128,
        vocab_size=500,
    )
    return Case(
        LlamaForCausalLM(config).eval(),
        (_tokens(2, 16),),
        {"use_cache": False},
        "input_ids: batch, seq[2..512]",
    )


def llama32() -> Case:
    """Llama with 32 layers."""
    return llama(32)


class Branching(torch.nn.Module):
    """A data-dependent choice between two layers, written with torch.cond."""

    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(8, 16)
        self.down = torch.nn.Linear(16, 8)
        self.gate = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def wide(x: torch.Tensor) -> torch.Tensor:
            return self.down(torch.relu(self.up(x)))

        def narrow(x: torch.Tensor) -> torch.Tensor:
            return self.gate(x).sigmoid() * x

        chosen = torch.cond(x.sum() > 0, wide, narrow, (x,))
        return self.normalise(chosen)

    def normalise(self, x: torch.Tensor) -> torch.Tensor:
        return x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)


def branching() -> Case:
    """One torch.cond and a helper method."""
    return Case(Branching().eval(), (torch.randn(4, 8),), shapes="x: batch, _")


class Residual(torch.nn.Module):
    """One block of `VisionNet`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = torch.nn.Conv2d(width, width, 3, padding=1)
        self.norm1 = torch.nn.BatchNorm2d(width)
        self.conv2 = torch.nn.Conv2d(width, width, 3, padding=1)
        self.norm2 = torch.nn.BatchNorm2d(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(y)) + x)


class VisionNet(torch.nn.Module):
    """A small residual network."""

    def __init__(self, width: int = 8, blocks: int = 3, classes: int = 10) -> None:
        super().__init__()
        self.stem = torch.nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.blocks = torch.nn.Sequential(*(Residual(width) for _ in range(blocks)))
        self.head = torch.nn.Linear(width, classes)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        features = self.blocks(self.stem(image))
        return self.head(features.mean(dim=(2, 3)))


def vision() -> Case:
    """A small residual network, batch and size free."""
    return Case(
        VisionNet().eval(), (torch.randn(2, 3, 32, 32),), shapes="image: batch, _, 2*h, 2*w"
    )


class AddRelu(torch.nn.Module):
    """The first module of the torch.export tutorial: three ops."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(100, 10)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.relu(self.lin(x + y), inplace=True)


def tutorial() -> Case:
    """Three ops."""
    return Case(AddRelu(), (torch.randn(8, 100), torch.randn(8, 100)))


CASES: dict[str, Callable[[], Case]] = {
    "tutorial": tutorial,
    "branching": branching,
    "vision": vision,
    "bert2": bert2,
    "gpt2_12": gpt2_12,
    "llama32": llama32,
}
"""What benchmarks export."""

SMALL_CASES: dict[str, Callable[[], Case]] = {
    "tutorial": tutorial,
    "branching": branching,
    "vision": vision,
    "bert2": bert2,
    "gpt2_2": gpt2_2,
}
"""What tests export: a layer more is the same again."""


def exported(case: Case) -> Exported:
    """The case, exported with its shapes."""
    attempt = capture(
        Request(
            target=case.model,
            args=case.args,
            kwargs=dict(case.kwargs),
            shapes=Shapes.parse(case.shapes) if case.shapes else None,
            title="model(…)",
        )
    )
    assert isinstance(attempt, Exported), attempt
    return attempt


def _tokens(batch: int, length: int) -> torch.Tensor:
    return torch.randint(0, 500, (batch, length))
