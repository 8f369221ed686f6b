"""Cases of numbers."""

from __future__ import annotations

import logging
import math

import torch
from torch import nn

from ..case import NON_STRICT, case

Tensor = torch.Tensor


@case(
    lambda: (torch.randn(2, 5), torch.tensor([1, 4]), torch.randn(2)),
    lambda: (torch.randn(2, 5), torch.tensor([0, 0]), -1.0 * torch.rand(2)),
    lambda: (torch.randn(2, 5), torch.tensor([-1, 3]), -2.0 * torch.rand(2)),
    modes=NON_STRICT,
)
class WritesRows(nn.Module):
    def forward(self, x: Tensor, at: Tensor, new: Tensor) -> Tensor:
        out = x.clone()
        for row in range(x.shape[0]):
            out[row, at[row]] = new[row]
        out[:, at[0]] += 1
        return out


@case(
    lambda: (torch.randn(6), torch.tensor([1, 1, 4])),
    lambda: (torch.randn(6), torch.tensor([0, 5, 0])),
    lambda: (torch.randn(6), torch.tensor([-1, 2, 3])),
    modes=NON_STRICT,
)
class Decodes(nn.Module):
    """Both branches write at one index."""

    def forward(self, logits: Tensor, ids: Tensor) -> Tensor:
        logits = logits.clone()
        for token in ids:
            if logits[token] < 0:
                logits[token] *= 1.3
            else:
                logits[token] /= 1.3
        return logits


@case(
    lambda: (torch.randn(2, 8, 8), torch.tensor([1.7, 2.2, 6.5])),
    lambda: (torch.randn(2, 8, 8), torch.tensor([0.0, 0.0, 1.0])),
    lambda: (torch.randn(2, 8, 8), torch.tensor([3.0, 7.0, 7.0])),
    modes=NON_STRICT,
)
class CropsBox(nn.Module):
    def forward(self, image: Tensor, box: Tensor) -> Tensor:
        x0, y0 = int(box[0]), int(box[1])
        x1 = int(box[2] + 0.5)
        return image[:, y0:, x0:x1].mean((1, 2))


@case(
    lambda: (torch.randn(3), torch.tensor(1)),
    lambda: (torch.randn(3), torch.tensor(0)),
    lambda: (torch.randn(3), torch.tensor(5)),
    modes=NON_STRICT,
)
class ByMode(nn.Module):
    def forward(self, x: Tensor, mode: Tensor) -> Tensor:
        m = mode.item()
        if m == 0:
            return x.sin()
        if m == 1:
            return x.cos()
        return x.tan()


@case(
    lambda: (torch.randn(6), torch.tensor([1, 4])),
    lambda: (3.0 * torch.rand(6), torch.tensor([0, 0])),
    lambda: (torch.randn(6), torch.tensor([5, 3])),
    modes=NON_STRICT,
)
class StepsOf(nn.Module):
    def forward(self, x: Tensor, times: Tensor) -> Tensor:
        steps = [(torch.arange(6) == each).nonzero().item() for each in times]
        return x[steps]


@case(
    lambda: (torch.randn(3), torch.tensor(2)),
    lambda: (torch.randn(3), torch.tensor(3)),
    lambda: (torch.randn(3), torch.tensor(7)),
    modes=NON_STRICT,
)
class StopsAt(nn.Module):
    def forward(self, x: Tensor, token: Tensor) -> Tensor:
        if token.item() in (2, 7):
            x = x * 2
        return x + 1


@case(lambda: (torch.rand(3),), modes=NON_STRICT)
class RootAndExponent(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        mean = x.abs().mean().item()
        return x / math.sqrt(mean) + math.exp(mean)


@case(lambda: (torch.randn(3),), modes=NON_STRICT)
class LogsMean(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.log = logging.getLogger("mean")

    def forward(self, x: Tensor) -> Tensor:
        self.log.debug(f"mean={x.mean().item():.3f}")
        return x * 2


@case(
    "x: n, _",
    lambda: (torch.randn(4, 4),),
    lambda: (5 * torch.randn(6, 4),),
    lambda: (torch.randn(5, 4) - 9,),
    modes=NON_STRICT,
)
class CountsFlags(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = int(x.mean() > 0) + int(x.max() > 1)
        if n > 1:
            x = x * n
        return x + n


@case(
    "x: n, _",
    lambda: (torch.randn(4, 4),),
    lambda: (torch.randn(6, 4).abs(),),
    lambda: (-torch.rand(5, 4),),
    modes=NON_STRICT,
)
class FloatsACount(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = float((x > 0).sum())
        if n > 3:
            n = n + 0.5
        return torch.arange(4) * n
