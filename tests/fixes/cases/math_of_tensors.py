"""Cases of math of tensors."""

from __future__ import annotations

import torch

from ..case import case


@case(
    lambda: (torch.rand(4, 3),),
    lambda: (torch.zeros(4, 3),),
    lambda: (torch.randn(4, 3),),
    lambda: (16.0 * torch.randn(4, 3),),
    lambda: (22.0 * torch.randn(4, 3),),
)
class MathOfTensors(torch.nn.Module):
    def forward(self, x):
        import math

        low = (1 + math.erf((1.0 - x.mean()) / math.sqrt(2))) / 2
        return x * low
