"""Flags, counters and messages that data decide, and lists of numbers that they fill."""

from __future__ import annotations

import math
import warnings

import torch
from torch import nn

from .case import reported

Tensor = torch.Tensor
F = nn.functional


@reported(
    "https://github.com/pytorch/pytorch/pull/180406",
    lambda n: (torch.full((2 + n, 4), 90000.0 if n == 1 else 1.5),),
    "x: batch, _",
)
class ClampsOverflow(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        half = x.half()
        bad = half.isinf().any() or half.isnan().any()  # <- here
        if bad:
            most = torch.finfo(half.dtype).max - 1000
            half = torch.clamp(half, min=-most, max=most)
        return half


@reported(
    "https://github.com/huggingface/transformers/pull/46148",
    lambda n: (
        torch.randn(2, 5 + n, 4),
        torch.ones(2, 5 + n).long().index_fill(1, torch.tensor(0), n % 2),
    ),
    "x: _, seq, _; mask: _, seq",
)
class NoMaskIfAllOnes(nn.Module):
    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        if mask is not None and torch.all(mask == 1):  # <- here
            mask = None
        if mask is not None:
            x = x * mask[:, :, None]
        return x.cumsum(1)


@reported(
    "https://github.com/pytorch/executorch/issues/8823",
    lambda n: (torch.tensor([0, 0, 1, 1, 2 - n % 2]),),
)
class LeavesOfATree(nn.Module):
    def forward(self, parents: Tensor) -> Tensor:
        inner = torch.unique(parents)
        leaves = torch.full((parents.shape[0], 2), -1)
        row = 0
        for i in range(parents.shape[0]):
            if i not in inner:  # <- here
                leaves[row, 0] = i
                row += 1
        return leaves


@reported(
    "https://github.com/pytorch/pytorch/issues/106183",
    lambda n: (torch.randint(1, 9, (2, 5 + n)),),
    "ids: _, seq",
)
class WarnsOfPadding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 4)

    def forward(self, ids: Tensor) -> Tensor:
        if 0 in ids[:, [-1, 0]]:  # <- here
            text = "Pass an attention mask for input that is padded."
            if self.embed.padding_idx is None:
                text += " There is no padding token."
            warnings.warn(text, stacklevel=2)
        return self.embed(ids)


@reported(
    "https://github.com/pytorch/pytorch/issues/123972",
    lambda n: (torch.randn(1, 4), torch.tensor([[1, 0, 1], [0, 1, n % 2]])),
)
class SumsActiveCells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x: Tensor, codes: Tensor) -> Tensor:
        for block in codes:
            total = 0
            for k, active in enumerate(block.tolist()):
                if active:  # <- here
                    total = total + self.cells[k](x)
            x = x + total
        return x


@reported(
    "https://github.com/pytorch/pytorch/issues/194768",
    lambda n: (torch.randn(4, 4), torch.tensor(1.0 - n)),
)
class TruncatedAt(nn.Module):
    def forward(self, x: Tensor, mean: Tensor) -> Tensor:
        if mean < -4 or mean > 4:  # <- here
            warnings.warn("the mean is far from the bounds", stacklevel=2)
        low = (1 + math.erf((-2 - mean) / math.sqrt(2))) / 2
        return x.clamp(-1, 1) * low


@reported(
    "https://github.com/ming024/FastSpeech2/issues/55",
    lambda n: (torch.randn(2, 4, 3), torch.tensor([[1, 2, 0, 1], [2, 1 + n, 1, 1]])),
)
class RegulatesLengths(nn.Module):
    def forward(self, x: Tensor, durations: Tensor) -> tuple[Tensor, Tensor]:
        rows, lengths = [], []
        for each, frames in zip(x, durations, strict=True):
            parts = [part.expand(int(frames[k]), -1) for k, part in enumerate(each)]
            rows.append(torch.cat(parts))
            lengths.append(rows[-1].shape[0])
        most = max(lengths)
        padded = [F.pad(row, (0, 0, 0, most - row.shape[0])) for row in rows]
        return torch.stack(padded), torch.LongTensor(lengths)
