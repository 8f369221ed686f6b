"""Cases of other cells."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case


@case("x: n, _", lambda: (torch.randn(5, 3),), lambda: (torch.randn(7, 3),), modes=NON_STRICT)
class ChecksInACell(torch.nn.Module):
    def forward(self, x):
        outs = []
        for i in range(x.shape[0]):
            outs.append(x[i] * torch.tensor(i))
        return torch.stack(outs)


@case(
    "x: b, n",
    lambda: (torch.ones(2, 5),),
    lambda: (torch.tensor([[1.0, 2.0, 0.0]]),),
    modes=NON_STRICT,
)
class BranchesInACell(torch.nn.Module):
    def forward(self, x):
        n = x.shape[1]
        length = (x != 0).sum(1)
        if int(length.max()) < n:
            x = x + int(length.max())
        return torch.relu(x)


@case(
    "x: b, n",
    lambda: (torch.ones(2, 5),),
    lambda: (torch.tensor([[1.0, 2.0, 0.0]]),),
    modes=NON_STRICT,
)
class LoopsInACell(nn.Module):
    def forward(self, x):
        n = x.shape[1]
        length = (x != 0).sum(1)
        if int(length.max()) < n:
            x = x + int(length.max())
        return x * 2
