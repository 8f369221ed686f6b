"""Cases of spare rows."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, add, case


@case(
    "x: tokens, _; chosen: tokens",
    lambda: (torch.randn(6, 8), torch.tensor([0, 1, 1, 3, 0, 1])),
    lambda: (torch.randn(3, 8), torch.tensor([2, 3, 2])),
    lambda: (torch.randn(3, 8), torch.tensor([2, 4, 0])),
    modes=NON_STRICT,
)
class Experts(nn.Module):
    def __init__(self, there: int = 4) -> None:
        super().__init__()
        self.count, self.there = 4, there
        self.weights = nn.Parameter(torch.randn(there * 8, 8))

    def forward(self, x: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        mask = nn.functional.one_hot(chosen, num_classes=self.count + 1).permute(1, 0)
        hit = torch.greater(mask.sum(dim=-1), 0).nonzero()
        for row in hit:
            row = row[0]  # noqa: PLW2901 - as models of transformers do
            (at,) = torch.where(mask[row])
            weight = self.weights.view(self.there, 8, 8)[row]
            out.index_add_(0, at, x[at] @ weight)
        return out


add(
    "experts-2",
    lambda: Experts(there=5),
    "x: tokens, _; chosen: tokens",
    lambda: (torch.randn(6, 8), torch.tensor([0, 1, 4, 3, 0, 1])),
    lambda: (torch.randn(3, 8), torch.tensor([2, 4, 0])),
    modes=NON_STRICT,
)
