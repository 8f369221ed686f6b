"""Cases of two sizes."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case


@case(
    "q: b, s, _; k: b, t, _",
    lambda: (torch.randn(2, 5, 4), torch.randn(2, 8, 4)),
    lambda: (torch.randn(2, 6, 4), torch.randn(2, 6, 4)),
    lambda: (torch.randn(3, 9, 4), torch.randn(3, 4, 4)),
)
class CausalWhereSquare(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(1, 2)
        if q.shape[1] == k.shape[1]:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -1e9)
        return scores.softmax(-1)


@case(
    "x: h, w",
    lambda: (torch.randn(6, 7),),
    lambda: (torch.randn(9, 4),),
    lambda: (torch.randn(4, 9),),
    lambda: (torch.randn(5, 5),),
)
class ByTheLonger(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, w = x.shape
        scale = 2.0 / h if h > w else 2.0 / w
        return x * scale


@case(
    "x: h, w",
    lambda: (torch.randn(6, 7),),
    lambda: (torch.randn(8, 8),),
    lambda: (torch.randn(8, 9),),
    lambda: (torch.randn(30, 2),),
)
class LimitsArea(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] * x.shape[1] > 64:
            x = x - x.mean()
        return x.relu()


@case(
    "past: b, n, _; new: b, m, _",
    lambda: (torch.randn(2, 5, 3), torch.randn(2, 7, 3)),
    lambda: (torch.randn(2, 2, 3), torch.randn(2, 3, 3)),
    lambda: (torch.randn(2, 4, 3), torch.randn(2, 4, 3)),
    lambda: (torch.randn(1, 9, 3), torch.randn(1, 2, 3)),
)
class KeepsLast(nn.Module):
    def forward(self, past: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        full = torch.cat([past, new], 1)
        if full.shape[1] > 8:
            full = full[:, -8:]
        return full.mean(1)


@case(
    "x: n, m",
    lambda: (torch.randn(4, 6),),
    lambda: (torch.randn(8, 3),),
    lambda: (torch.randn(2, 8),),
    lambda: (torch.randn(4, 16),),
)
class InRowsOfEight(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1, 8).sum(0)


@case(
    "a: _, h, w; b: _, h2, w2",
    lambda: (torch.randn(3, 5, 6), torch.randn(3, 4, 8)),
    lambda: (torch.randn(3, 7, 9), torch.randn(3, 4, 2)),
    lambda: (torch.randn(3, 2, 9), torch.randn(3, 6, 2)),
    lambda: (torch.randn(3, 4, 4), torch.randn(3, 4, 4)),
)
class PadsToTheLarger(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        size = [max(each) for each in zip(*[list(t.shape) for t in (a, b)], strict=True)]
        out = torch.zeros([2, *size])
        mask = torch.ones([2, *size[1:]], dtype=torch.bool)
        for image, padded, m in zip((a, b), out, mask, strict=True):
            padded[: image.shape[0], : image.shape[1], : image.shape[2]].copy_(image)
            m[: image.shape[1], : image.shape[2]] = False
        return out, mask


@case("q: n, _; k: m, _", lambda: (torch.randn(4, 3), torch.randn(6, 3)), modes=NON_STRICT)
class OnlyWhereShorter(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        if q.shape[0] > k.shape[0]:
            raise ValueError("more queries than keys")
        return q @ k[: q.shape[0]].T
