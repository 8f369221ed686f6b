"""The spec of dynamic shapes, as users of other exporters or of another signature wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.export import Dim

from .case import reported

Tensor = torch.Tensor
batch, seq, past_seq = Dim("batch"), Dim("seq"), Dim("past_seq")


@reported(
    "https://github.com/microsoft/Olive/pull/1639",
    lambda n: {"ids": torch.randint(0, 9, (2 + n, 5 + n)), "mask": torch.ones(2 + n, 5 + n)},
    {"ids": {0: "batch", 1: "seq"}, "mask": {0: "batch", 1: "seq"}},
)
class DimsAsNames(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.embedding(ids) * mask[..., None]


@reported(
    "https://github.com/pytorch/pytorch/pull/128371",
    lambda n: (torch.randn(2 + n, 5, 3), torch.randn(2 + n, 3)),
    {"points": [0], "scale": [0]},
)
class AxesAsLists(nn.Module):
    def forward(self, points: Tensor, scale: Tensor) -> Tensor:
        return points * scale[:, None]


@reported(
    "https://github.com/pytorch/pytorch/pull/112298",
    lambda n: (torch.randn(3 + n, 4),),
    {"input": {0: batch}},
)
class AnotherName(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


@reported(
    "https://github.com/pytorch/pytorch/issues/182266",
    lambda n: (
        torch.randn(2, 3 + n, 4),
        [(torch.randn(2, 5 + n, 4), torch.randn(2, 5 + n, 4)) for _ in range(2)],
    ),
    {"x": {1: seq}, "past": [{1: past_seq}] * 4},
)
class FlatPast(nn.Module):
    def forward(self, x: Tensor, past: list[tuple[Tensor, Tensor]]) -> Any:
        return [(torch.cat([key, x], 1), torch.cat([value, x], 1)) for key, value in past]


@dataclass
class Batch:
    """What a step takes."""

    ids: Tensor
    mask: Tensor


@reported(
    "https://github.com/pytorch/pytorch/pull/117917",
    lambda n: (Batch(torch.randn(2 + n, 4), torch.ones(2 + n, 4)),),
    {"given": {"ids": {0: batch}, "mask": {0: batch}}},
)
class SpecOfDataclass(nn.Module):
    def forward(self, given: Batch) -> Tensor:
        return given.ids * given.mask


@reported(
    "https://github.com/keras-team/keras/pull/22797",
    lambda n: (torch.randn(3 + n, 4),),
    {0: batch},
)
class SpecOfTheOnlyInput(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.softmax(-1)


@reported(
    "https://github.com/pytorch/pytorch/issues/171964",
    lambda n: (torch.randn(4 + n, 6), torch.randn(6, 4 + n)),
    {"x": {0: batch}, "y": {0: batch}},
)
class NameOnTheWrongAxis(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x @ y


@reported(
    "https://github.com/meta-pytorch/torchrec/pull/3815",
    lambda n: (torch.randn(10 + n),),
    {"values": {0: Dim("values", min=20, max=40)}},
)
class ExampleBelowTheRange(nn.Module):
    def forward(self, values: Tensor) -> Tensor:
        return values.cumsum(0)
