"""Cases of options."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional

from ..case import case


@case(
    "x: batch, time, _",
    lambda: (torch.randn(2, 10, 4),),
    lambda: (torch.randn(2, 2, 4),),
    lambda: (torch.randn(2, 3, 4),),
    lambda: (torch.randn(2, 5, 4),),
    lambda: (torch.randn(2, 8, 4),),
)
class SwapsHalves(nn.Module):
    """Of 3 rows, the first half is one row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        half = x.shape[1] // 2
        first, second = torch.split(x, [half, x.shape[1] - half], dim=1)
        return torch.cat([second, first], 1)


@case(
    "x: batch, time",
    lambda: (torch.randn(2, 10),),
    lambda: (torch.randn(2, 2),),
    lambda: (torch.randn(2, 3),),
    lambda: (torch.randn(2, 5),),
    lambda: (torch.randn(2, 8),),
)
class PadsToFrames(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        frames = math.ceil(x.shape[1] / 8)
        missing = frames * 8 - x.shape[1]
        if missing > 0:
            x = functional.pad(x, (0, missing))
        return x.view(x.shape[0], frames, 8).mean(-1)


@case(
    "x: batch, time, _",
    lambda: (torch.randn(2, 10, 4),),
    lambda: (torch.randn(2, 2, 4),),
    lambda: (torch.randn(2, 3, 4),),
    lambda: (torch.randn(2, 5, 4),),
    lambda: (torch.randn(2, 8, 4),),
)
class DropsTheLast(nn.Module):
    """Sizes without a remainder are padded by what is missing, and 1 of 2 pieces is one row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[1] % 2:
            x = functional.pad(x, (0, 0, 0, 1))
        return x.reshape(x.shape[0], x.shape[1] // 2, -1)


@case(
    "x: batch, time",
    lambda: (torch.randn(2, 35),),
    lambda: (torch.randn(2, 8),),
    lambda: (torch.randn(2, 16),),
    lambda: (torch.randn(2, 24),),
    lambda: (torch.randn(2, 13),),
)
class DoublesWholeFrames(nn.Module):
    """Where torch is to keep its guard as an assertion, it drops it, and always pads."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        missing = math.ceil(x.shape[1] / 8) * 8 - x.shape[1]
        x = functional.pad(x, (0, missing)) if missing > 0 else x * 2
        return x.view(x.shape[0], -1, 8).mean(-1)


@case(
    "x: batch, _, h, w",
    lambda: (torch.randn(1, 3, 33, 45),),
    lambda: (torch.randn(2, 3, 33, 45),),
    lambda: (torch.randn(2, 3, 34, 46),),
    lambda: (torch.randn(2, 3, 12, 13),),
    lambda: (torch.randn(2, 3, 7, 8),),
)
class PadsToEvenSides(nn.Module):
    """Of a batch of 1, torch's options alone keep a program for odd sides."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, w = x.shape[-2:]
        whole = (h + 1) // 2 * 2, (w + 1) // 2 * 2
        if whole != (h, w):
            x = functional.pad(x, (0, whole[1] - w, 0, whole[0] - h))
        return functional.pixel_unshuffle(x, 2)
