"""Cases of row writes."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case

Tensor = torch.Tensor


@case(
    "x: batch, _, _; lengths: batch",
    lambda: (torch.randn(3, 6, 2), torch.tensor([2, 6, 0])),
    lambda: (torch.randn(2, 6, 2), torch.tensor([5, 7])),
    lambda: (torch.randn(5, 6, 2), torch.tensor([0, 4, 5, 7, 0])),
    modes=NON_STRICT,
)
class MasksRows(torch.nn.Module):
    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        mask = torch.ones(x.size(0), x.size(1), dtype=torch.bool)
        for i, n in enumerate(lengths):
            mask[i, n:] = False
        return x.masked_fill(~mask[..., None], 0.0).sum(1)


def padded(batch: int, time: int, lengths: list[int]) -> tuple[Tensor, Tensor]:
    return torch.randn(batch, time, 2), torch.tensor(lengths)


@case(
    "x: batch, time, _; lengths: batch",
    lambda: padded(3, 5, [2, 5, 1]),
    lambda: padded(2, 4, [4, 3]),
    lambda: padded(3, 6, [0, -2, 9]),
    modes=NON_STRICT,
)
class CopiesRows(torch.nn.Module):
    """A negative length counts from the end, and a long one ends there."""

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        out = torch.zeros_like(x)
        for b in range(x.shape[0]):
            out[b, : lengths[b]] = torch.tanh(x[b, : lengths[b]]) * 2
        return out


@case(
    "x: batch, time, _; lengths: batch",
    lambda: padded(3, 5, [2, 5, 1]),
    lambda: padded(2, 4, [4, 3]),
    lambda: padded(1, 6, [1]),
    modes=NON_STRICT,
)
class BiasedRows(torch.nn.Module):
    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        bias = torch.full((x.shape[0], x.shape[1]), float("-inf"))
        for b in range(x.shape[0]):
            bias[b, : lengths[b].item()] = 0
        return (x.sum(-1) + bias).softmax(-1)


@case(
    "x: batch, time, _; lengths: batch",
    lambda: padded(3, 5, [2, 5, 1]),
    lambda: padded(2, 4, [4, 3]),
    lambda: padded(1, 6, [1]),
    modes=NON_STRICT,
)
class NormalizedRows(torch.nn.Module):
    """The mean is of the rows that are written, so the slice must not be left out of it."""

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        out = torch.zeros_like(x)
        for b in range(x.shape[0]):
            out[b, : lengths[b]] = x[b, : lengths[b]] - x[b, : lengths[b]].mean(0)
        return out
