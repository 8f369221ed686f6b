"""Cases of size numbers."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

from ..case import NON_STRICT, case

LENGTHS = (
    "x: b, n",
    lambda: (torch.randn(2, 12),),
    lambda: (torch.randn(3, 4),),
    lambda: (torch.randn(3, 5),),
    lambda: (torch.randn(3, 7),),
    lambda: (torch.randn(3, 8),),
)


@case(*LENGTHS)
class Logarithm(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        k = int(math.log2(x.shape[1]))
        return x.topk(k, dim=1)[0].mean(1)


@case(*LENGTHS)
class Root(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side = math.isqrt(x.shape[1])
        grid = x[:, : side * side].reshape(x.shape[0], side, side)
        return grid @ grid


@case(*LENGTHS)
class OfNumpy(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        k = np.ceil(np.log(x.shape[1])).astype("int").item()
        return x.topk(k, dim=1)[0].mean(1)


@case(*LENGTHS)
class PadsToAPower(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = 1 << (x.shape[1] - 1).bit_length()
        return nn.functional.pad(x, (0, whole - x.shape[1])).cumsum(1)


@case(*LENGTHS)
class ConvolvesByFourier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Parameter(torch.linspace(-1, 1, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = 1 << (x.shape[1] + 2 - 1).bit_length()
        product = torch.fft.rfft(x, whole) * torch.fft.rfft(self.filter, whole)
        return torch.fft.irfft(product, whole)[:, : x.shape[1]]


@case(*LENGTHS)
class OneAtAFewSizes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        k = -(-x.shape[1] // 5)
        return x.topk(k, dim=1)[0].mean(1)


@case("x: b, n", lambda: (torch.randn(2, 12),), modes=NON_STRICT)
class KeptByTorch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, : math.floor(x.shape[1] * 0.5)].sum(1)
