"""Cases of shapes spec fix."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case


@case(
    "x: batch, seq[..512]",
    lambda: (torch.randn(4, 32),),
    lambda: (torch.randn(3, 16),),
    lambda: (torch.randn(3, 512),),
    lambda: (torch.randn(3, 24),),
    lambda: (torch.randn(3, 528),),
    modes=NON_STRICT,
)
class Divided(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, seq = x.shape
        return x.view(batch, 16, seq // 16).sum(1)


@case("x: a, _; y: b, _", lambda: (torch.randn(8, 2), torch.randn(2, 2)), modes=NON_STRICT)
class Related(nn.Module):
    """What it asks of two sizes together no Dim can say."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[0] * y.shape[0] % 4 != 0 or x.shape[0] + y.shape[0] > 100:
            raise ValueError("sizes that do not go together")
        return x.sum() if x.shape[0] % 8 else x.sum() + y.sum()


@case("x: a, _", lambda: (torch.randn(4, 2),), modes=NON_STRICT)
class Four(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(4, -1) if x.shape[0] == 4 else x + 1
