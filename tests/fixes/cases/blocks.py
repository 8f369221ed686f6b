"""Cases of blocks."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case


@case(
    "x: b, t, _", lambda: (torch.rand(2, 6, 3),), lambda: (torch.rand(3, 10, 3),), modes=NON_STRICT
)
class ExportsBlocks(torch.nn.Module):
    def forward(self, x):
        h, k = torch.zeros(x.size(0), 3), 2
        for i in range(0, x.size(1), k):
            h = torch.tanh(h + x[:, i : i + k].sum(1)) * x[:, i : i + k, :].amax(1)
        return h


@case(
    "x: batch, time, _",
    lambda: (torch.randn(2, 12, 4),),
    lambda: (torch.randn(3, 7, 4),),
    lambda: (torch.randn(3, 8, 4),),
    lambda: (torch.randn(3, 30, 4),),
)
class FramesOfAnyLength(torch.nn.Module):
    def forward(self, x):
        win, hop, outs = 3, 2, []
        for i in range(0, x.shape[1] - win + 1, hop):
            outs.append(x[:, i : i + win])
        return torch.stack(outs, 1)


@case(
    "x: batch, time, _",
    lambda: (torch.randn(2, 12, 3),),
    lambda: (torch.randn(3, 8, 3),),
    lambda: (torch.randn(3, 12, 3),),
    lambda: (torch.randn(3, 40, 3),),
)
class PiecesOfAnyNumber(torch.nn.Module):
    def forward(self, x):
        return torch.cat([piece.cumsum(1) for piece in x.split(4, dim=1)], 1)
