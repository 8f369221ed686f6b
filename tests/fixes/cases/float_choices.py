"""Cases of float choices."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case

ROWS = (
    "x: n, m",
    lambda: (torch.randn(4, 6),),
    lambda: (torch.zeros(2, 6),),
    lambda: (torch.full((3, 6), -2.0),),
    lambda: (torch.tensor([[float("nan"), 1.0, 2.0]]),),
    lambda: (torch.tensor([[float("inf"), 1.0, -2.0]]),),
)


@case(*ROWS)
class Quantizes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        low, high = min(0.0, x.min().item()), max(x.max().item(), 0.0)
        scale = (high - low) / 255.0
        if scale == 0.0:
            scale = 1.0
        return torch.round(x / scale) * scale + low


@case(
    "x: n, m",
    lambda: (torch.randn(4, 6),),
    lambda: (torch.zeros(2, 6),),
    lambda: (torch.full((3, 6), -2.0),),
)
class Weighs(nn.Module):
    """0.7 is another number as a float of 32 bits."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = 0.7 if x.double().sum().item() > 0.0 else 0.1
        return x.double() * weight


@case(*ROWS)
class Limits(nn.Module):
    """A float that stands there is a number, and turns nothing off."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        spread = x.std().item()
        limit = 3.0 * spread if spread > 0 else 1.0
        return x.clamp(-limit, limit)


@case(lambda: (torch.arange(5),), modes=NON_STRICT)
class Counts(nn.Module):
    """Its number is an int, or a float: which one shows in the dtype of the result."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        factor = x.float().mean().item()
        if factor < 0.5:
            factor = 1
        return x * factor
