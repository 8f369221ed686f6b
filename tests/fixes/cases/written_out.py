"""Cases of written out."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case


@case("x: batch, time, _", lambda: (torch.randn(2, 5, 3),), eval_mode=True, modes=NON_STRICT)
class Recurs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)

    # fmt: off
    def forward(self, x: torch.Tensor) -> torch.Tensor: y, _ = self.rnn(x); return y  # noqa: E702


@case("x: batch, time, _", lambda: (torch.randn(2, 5, 3),), eval_mode=True, modes=NON_STRICT)
class Sums(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, outs = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            y = torch.tanh(x[:, t] + y)
            outs.append(y)
        return torch.stack(outs, 1)
