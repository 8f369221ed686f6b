"""Cases of names that are None until a branch or a loop gives them a value."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case

Tensor = torch.Tensor


@case(
    "x: n, _",
    lambda: (torch.randn(5, 3),),
    lambda: (torch.randn(1, 3),),
    lambda: (torch.randn(8, 3),),
    modes=NON_STRICT,
)
class LongestRow(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        best, at = None, None
        for i in range(x.shape[0]):
            score = x[i].norm()
            if best is None or score > best:
                best = score
                at = i
        return x[at] * best


@case(
    "x: n, _",
    lambda: (torch.randn(5, 3),),
    lambda: (-torch.rand(1, 3) - 1e9,),
    lambda: (torch.randn(8, 3),),
    modes=NON_STRICT,
)
class BestOrZeros(nn.Module):
    """No score may be above the first bound."""

    def forward(self, x: Tensor) -> Tensor:
        best = None
        best_score = -1e9
        for row in x:
            score = row.mean()
            if score > best_score:
                best, best_score = row, score
        if best is None:
            return x.new_zeros(3)
        return best


@case(
    lambda: (torch.randn(4, 3),),
    lambda: (-torch.rand(4, 3),),
    lambda: (torch.full((4, 3), float("nan")),),
    modes=NON_STRICT,
)
class BestOfNumbers(nn.Module):
    """Of NaN none is best, and eager fails."""

    def forward(self, x: Tensor) -> Tensor:
        best, best_score = None, float("-inf")
        for i in range(4):
            score = x[i].mean().item()
            if score > best_score:
                best_score = score
                best = x[i]
        return best + best_score


@case(
    "x: n, _",
    lambda: (torch.randn(5, 3),),
    lambda: (torch.rand(1, 3),),
    lambda: (-torch.rand(8, 3),),
    modes=NON_STRICT,
)
class StepsFromTheLast(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        last = None
        n = 0
        for row in x:
            if row.sum() > 0:
                if last is not None and (row - last).abs().max() > 0.5:
                    n += 1
                last = row
        return x.sum(0) * n


@case(
    "x: n, _",
    lambda: (torch.randn(5, 3),),
    lambda: (torch.rand(1, 3),),
    lambda: (-torch.rand(8, 3),),
    modes=NON_STRICT,
)
class TotalOrNone(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = None
        for row in x:
            if row[0] > 0:
                total = row if total is None else total + row
        return x if total is None else x + total


@case(
    "x: n, _",
    lambda: (torch.rand(5, 3),),
    lambda: (torch.rand(1, 3),),
    lambda: (-torch.rand(8, 3),),
    modes=NON_STRICT,
)
class NoneIsReturned(nn.Module):
    """A program cannot give a tensor for some data and None for others."""

    def forward(self, x: Tensor) -> Tensor | None:
        best = None
        for row in x:
            if row.sum() > 0:
                best = row
        return best


@case(
    "x: n, _",
    lambda: (torch.rand(5, 3),),
    lambda: (torch.rand(1, 3),),
    lambda: (-torch.rand(8, 3),),
    modes=NON_STRICT,
)
class ReadsNoneInTheLoop(nn.Module):
    """Eager fails where the first row is not positive."""

    def forward(self, x: Tensor) -> Tensor:
        best = None
        y = x.sum(0)
        for row in x:
            if row.sum() > 0:
                best = row
            y = y + best
        return y
