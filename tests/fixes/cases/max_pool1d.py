"""Cases of max pool1d."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ..case import NON_STRICT, add, case


@case(
    "x: batch, _, length",
    lambda: (torch.randn(2, 4, 20),),
    lambda: (torch.randn(1, 4, 7),),
    lambda: (torch.randn(3, 4, 20),),
    lambda: (torch.randn(2, 4, 31),),
    eval_mode=True,
)
class Stack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(4, 4, 3, padding=1), nn.MaxPool1d(2), nn.ReLU(), nn.MaxPool1d(3, 2, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x) * 2


@case(
    "x: batch, _, length",
    lambda: (torch.randn(2, 4, 20),),
    lambda: (torch.randn(1, 4, 7),),
    lambda: (torch.randn(3, 4, 20),),
    lambda: (torch.randn(2, 4, 31),),
    eval_mode=True,
)
class Function(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.max_pool1d(x, 3, stride=2, padding=1, ceil_mode=True)


@case(
    "x: batch, _, length",
    lambda: (torch.randn(2, 4, 20),),
    lambda: (torch.randn(1, 4, 7),),
    lambda: (torch.randn(3, 4, 20),),
    lambda: (torch.randn(2, 4, 31),),
    eval_mode=True,
)
class Op(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        step = (2,)
        return torch.max_pool1d(x, (3,), step) + 1


add(
    "max-pool1d",
    lambda: nn.MaxPool1d(2),
    "input: batch, _, length",
    lambda: (torch.randn(2, 4, 9),),
    lambda: (torch.randn(2, 4, 14),),
    modes=NON_STRICT,
)
