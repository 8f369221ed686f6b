"""Cases of unique loops."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case


@case(
    "x: n, _; y: n",
    lambda: (torch.randn(4, 6), torch.tensor([0, 1, 0, 1])),
    lambda: (torch.randn(3, 6), torch.tensor([3, 3, 3])),
    lambda: (torch.randn(7, 6), torch.tensor([0, 5, 2, 5, 1, 0, 7])),
    lambda: (torch.randn(1, 6), torch.tensor([4])),
)
class Prototypes(nn.Module):
    """Distances to the mean of each class, which a comprehension stacks."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        means = torch.stack([x[y == c].mean(0) for c in torch.unique(y)])
        return torch.cdist(x, means)


@case(
    "x: n, _; y: n",
    lambda: (torch.randn(4, 6), torch.tensor([0, 1, 0, 1])),
    lambda: (torch.randn(3, 6), torch.tensor([3, 3, 3])),
    lambda: (torch.randn(7, 6), torch.tensor([0, 5, 2, 5, 1, 0, 7])),
    lambda: (torch.randn(1, 6), torch.tensor([4])),
)
class Normalizes(nn.Module):
    """Writes each group's rows, and collects nothing."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        for group in y.unique():
            rows = y == group
            out[rows] = x[rows] - x[rows].mean(0)
        return out


@case(
    "x: n, _; y: n",
    lambda: (torch.randn(4, 6), torch.tensor([0, 1, 0, 1])),
    lambda: (torch.randn(3, 6), torch.tensor([3, 3, 3])),
    lambda: (torch.randn(7, 6), torch.tensor([0, 5, 2, 5, 1, 0, 7])),
    lambda: (-2.0 * torch.rand(1, 6), torch.tensor([4])),
    lambda: (torch.randn(1, 6), torch.tensor([4])),
)
class Adds(nn.Module):
    """Goes over a name for what it finds."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        groups = torch.unique(y)
        total = x.new_zeros(x.shape[1])
        for group in groups:
            total = total + x[y == group].mean(0).abs()
        return total


@case("x: n, _; y: n", lambda: (torch.randn(4, 6), torch.tensor([0, 1, 0, 1])), modes=NON_STRICT)
class AddsWhatIsSet(nn.Module):
    """Goes over what may well be nothing."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = x.new_zeros(x.shape[1])
        for row in y.nonzero():
            total = total + x[row].abs().sum(0)
        return total
