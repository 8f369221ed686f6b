"""Cases of sorted by data."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case


@case(lambda: (torch.randn(6, 3),))
class SortedByLengths(torch.nn.Module):
    def forward(self, x):
        lengths = (x > 0).sum(1)
        order = sorted(range(x.shape[0]), key=lambda i: lengths[i], reverse=True)
        return x[order]


@case(lambda: (torch.randn(4, 3),), modes=NON_STRICT)
class SortedBySums(torch.nn.Module):
    def forward(self, x):
        return x[sorted(range(4), key=lambda i: x[i].sum())]
