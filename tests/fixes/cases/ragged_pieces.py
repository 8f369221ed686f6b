"""Cases of ragged pieces."""

from __future__ import annotations

import torch
from torch import nn

from ..case import case

PIECES = (
    "x: total, _; lengths: n",
    lambda: (torch.randn(14, 4), torch.tensor([5, 7, 2])),
    lambda: (torch.randn(3, 4), torch.tensor([3])),
    lambda: (torch.randn(12, 4), torch.tensor([1, 1, 1, 9])),
    lambda: (torch.randn(8, 4), torch.tensor([6, 2])),
    lambda: (torch.randn(7, 4), torch.full((7,), 1)),
)


@case(*PIECES)
class Pools(nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        outs = []
        for part in torch.split(x, lengths.tolist()):
            outs.append(part.max(0).values)
        return torch.stack(outs)


@case(*PIECES)
class Named(nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        parts = x.split(lengths.tolist(), dim=0)
        return torch.stack([(part.softmax(0) * part).sum(0) for part in parts])


@case(*PIECES)
class Counts(nn.Module):
    """Its numbers have a name; the pieces are of another dim, and counted."""

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        sizes = lengths.tolist()
        outs = []
        for n, part in enumerate(torch.split(x, sizes, 0)):
            outs.append(part.sum(0) * (n + 1))
        return torch.stack(outs)
