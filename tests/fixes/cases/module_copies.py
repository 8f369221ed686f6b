"""Cases of module copies."""

from __future__ import annotations

import copy

import torch
from torch import nn

from ..case import add


class Copied(nn.Module):
    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        block = copy.deepcopy(self.block)
        found: torch.Tensor = block(x)
        return found


add(
    "copied",
    lambda: Copied(nn.Linear(4, 4)),
    "x: batch, _",
    lambda: (torch.rand(3, 4),),
    lambda: (torch.rand(1, 4),),
    lambda: (torch.rand(7, 4),),
    eval_mode=True,
)

add("copied-3", lambda: Copied(nn.BatchNorm1d(4)), lambda: (torch.rand(3, 4),))


class Counts(nn.Module):
    """Answers otherwise each time: only of a copy is every call the first."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


add("copied-2", lambda: Copied(Counts()), lambda: (torch.rand(3, 4),), eval_mode=True)
