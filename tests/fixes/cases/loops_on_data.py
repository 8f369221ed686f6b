"""Cases of loops on data."""

from __future__ import annotations

import torch

from ..case import case


@case(
    lambda: (torch.rand(4, 3),),
    lambda: (torch.zeros(4, 3),),
    lambda: (5.0 * torch.rand(4, 3),),
)
class ExportsEndless(torch.nn.Module):
    def forward(self, x):
        y = x.abs() + 0.1
        while True:
            y = y * 2
            if y.sum() > 9:  # stop
                break
            y = y + 1
        return y
