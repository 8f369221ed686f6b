"""Cases of chunks at once."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, add, case

LENGTHS = (
    "x: batch, n, _",
    lambda: (torch.randn(2, 40, 8),),
    lambda: (torch.randn(3, 5, 8),),
    lambda: (torch.randn(3, 16, 8),),
    lambda: (torch.randn(3, 33, 8),),
    lambda: (torch.randn(3, 100, 8),),
)


class Feeds(nn.Module):
    """In chunks of a number of tokens, as for long inputs on small devices."""

    def __init__(self, size: int = 16) -> None:
        super().__init__()
        self.linear, self.size = nn.Linear(8, 8), size

    def feed(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(x))


@case(
    "x: batch, n, _",
    lambda: (torch.randn(2, 40, 8),),
    lambda: (torch.randn(3, 5, 8),),
    lambda: (torch.randn(3, 16, 8),),
    lambda: (torch.randn(3, 33, 8),),
    lambda: (2.0 * torch.randn(3, 100, 8),),
    eval_mode=True,
    modes=NON_STRICT,
)
class BySlices(Feeds):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = []
        for i in range(0, x.shape[1], self.size):
            out.append(self.feed(x[:, i : i + self.size]))
        return torch.cat(out, 1)


add(
    "by-slices-2",
    lambda: BySlices(64),
    "x: batch, n, _",
    lambda: (torch.randn(2, 40, 8),),
    eval_mode=True,
    modes=NON_STRICT,
)


@case(
    *LENGTHS,
    eval_mode=True,
    modes=NON_STRICT,
)
class ByName(Feeds):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        chunks = torch.split(x, self.size, dim=1)
        return torch.cat([self.feed(each) for each in chunks], 1)


@case(
    *LENGTHS,
    eval_mode=True,
    modes=NON_STRICT,
)
class InPairs(Feeds):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pairs = [self.feed(a) + b for a, b in zip(x.split(16, 1), x.split(16, 1), strict=True)]
        return torch.cat(pairs, 1)


@case(
    *LENGTHS,
    eval_mode=True,
    modes=NON_STRICT,
)
class Attends(nn.Module):
    """To all keys, some queries at a time."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out, n = torch.zeros_like(x), x.shape[1]
        for start in range(0, n, 16):
            end = min(start + 16, n)
            weights = (x[:, start:end] @ x.transpose(1, 2)).softmax(-1)
            out[:, start:end] = weights @ x
        return out


@case("x: batch, n, _", lambda: (torch.randn(2, 40, 8),), eval_mode=True, modes=NON_STRICT)
class AttendsWithin(nn.Module):
    """To the keys of its own chunk alone."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = []
        for i in range(0, x.shape[1], 16):
            own = x[:, i : i + 16]
            out.append((own @ own.transpose(1, 2)).softmax(-1) @ own)
        return torch.cat(out, 1)
