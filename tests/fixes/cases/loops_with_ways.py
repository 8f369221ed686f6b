"""Cases of loops with ways."""

from __future__ import annotations

import torch
from torch import nn

from ..case import case


@case(
    "x: n, m, _; mask: n, m",
    lambda: (
        torch.randn(3, 5, 4),
        torch.tensor(
            [
                [True, False, True, True, False],
                [True, False, True, True, False],
                [False, False, False, False, False],
            ]
        ),
    ),
    lambda: (
        torch.randn(2, 7, 4),
        torch.tensor(
            [
                [False, False, False, True, False, True, True],
                [False, True, False, False, True, True, False],
            ]
        ),
    ),
    lambda: (
        torch.randn(4, 2, 4),
        torch.tensor([[False, True], [True, False], [False, True], [False, False]]),
    ),
    lambda: (
        torch.randn(3, 3, 4),
        torch.tensor([[False, True, True], [False, True, True], [True, True, True]]),
    ),
    lambda: (torch.randn(2, 3, 4), torch.full((2, 3), False)),
)
class MeansOfRows(nn.Module):
    """A number of rows holds where it is not 0."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        out = []
        for i in range(x.size(0)):
            rows = x[i][mask[i]]
            out.append(rows.mean(0) if rows.size(0) else x.new_ones(x.size(-1)))
        return torch.stack(out)


@case(
    "x: n, _; edges: _, e",
    lambda: (torch.randn(5, 4), torch.tensor([[0, 1, 2, 3, 4, 0], [1, 1, 0, 0, 2, 3]])),
    lambda: (torch.randn(3, 4), torch.tensor([[0, 1], [1, 1]])),
    lambda: (torch.randn(2, 4), torch.tensor([[0, 1, 1], [1, 0, 0]])),
    lambda: (torch.randn(7, 4), torch.tensor([[6, 5, 4, 3, 2, 1, 0, 0], [0, 0, 0, 0, 0, 0, 6, 1]])),
)
class Neighbours(nn.Module):
    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        out = []
        for node in range(x.size(0)):
            others = edges[0][edges[1] == node]
            if others.numel() == 0:
                out.append(x[node] * 0)
            else:
                out.append(x[others].mean(0))
        return torch.stack(out)
