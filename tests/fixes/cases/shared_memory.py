"""Cases of shared memory."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from ..case import case


@case(
    lambda: (torch.ones(5, 6),),
    lambda: (torch.zeros(5, 6),),
    lambda: (F.one_hot(torch.tensor([0, 1, 2, 3, 4]), 6).float(),),
)
class Box(nn.Module):
    def forward(self, mask: torch.Tensor) -> torch.Tensor:
        ys, xs = torch.where(mask > 0)
        if ys.numel() == 0:
            return torch.zeros(4, dtype=torch.long)
        return torch.stack([xs.min(), ys.min(), xs.max(), ys.max()])


@case(
    lambda: (torch.ones(5, 6),),
    lambda: (torch.zeros(5, 6),),
    lambda: (F.one_hot(torch.tensor([0, 1, 2, 3, 4]), 6).float(),),
)
class Centre(nn.Module):
    def forward(self, mask: torch.Tensor) -> torch.Tensor:
        found = mask.nonzero(as_tuple=True)
        ys, xs = found
        if len(ys) == 0:
            centre = torch.zeros(2)
        else:
            centre = torch.stack([xs.float().mean(), ys.float().mean()])
        return centre + 1


@case(
    lambda: (torch.tensor([[-0.0, -1.0, -2.0, -3.0], [-4.0, -5.0, -6.0, -7.0]]),),
    lambda: (torch.arange(8.0).view(2, 4),),
)
class Pieces(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        if a.mean() > b.mean():
            y = torch.linalg.svdvals(a)
            y = y.sum() * b
        else:
            y = b - a
        return y + a


@case(lambda: (torch.ones(3),) * 2, lambda: (torch.rand(3), torch.rand(3)))
class OneTensorForTwoInputs(nn.Module):
    def forward(self, x, y):
        return x * 2 + y
