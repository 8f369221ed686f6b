"""Cases of stacked tensors."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case


@case(
    "x: rows, _",
    lambda: (torch.randn(3, 4),),
    lambda: (torch.randn(2, 4),),
    lambda: (torch.randn(5, 4),),
    modes=NON_STRICT,
)
class MakesATensorOfTensors(torch.nn.Module):
    def forward(self, x):
        return torch.tensor([row.median() for row in x])
