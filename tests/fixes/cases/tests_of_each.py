"""Cases of tests of each."""

from __future__ import annotations

import torch
from torch import nn

from ..case import case

ROWS = (
    lambda: (torch.ones(3, 2),),
    lambda: (torch.randn(3, 2),),
    lambda: (torch.zeros(3, 2),),
    lambda: (torch.full((3, 2), -1.0),),
)


@case(*ROWS)
class AnyOf(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if any(row.sum() > 1 and row[0] < 1 for row in x):
            return x * 2
        return x - 1


@case(*ROWS)
class AllOf(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not all(row.max() > 0.5 for row in x):
            return x * 2
        return x - 1


@case(*ROWS)
class Counted(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / max(sum(1 for row in x if row.sum() > 0), 1)


@case(*ROWS)
class CountedOrNone(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = sum(1 for row in x if row.sum() > 0)
        return x.sum() / count if count else x.sum() - 3


@case(*ROWS)
class Summed(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * sum(row.mean() * 2 for row in x if row[0] > 0 if row[1] < 1)
