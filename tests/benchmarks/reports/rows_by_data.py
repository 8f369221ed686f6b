"""Rows, positions and blocks that data choose: written, masked, looked up, one after the other."""

from __future__ import annotations

import torch
from torch import nn

from .case import reported

Tensor = torch.Tensor
F = nn.functional


@reported(
    "https://github.com/ailia-ai/ailia-models/issues/1566",
    lambda n: (torch.randn(2, 12, 4), torch.tensor([0, 4 + n, 9, 12])),
)
class BlocksAttend(nn.Module):
    def forward(self, q: Tensor, ends: Tensor) -> Tensor:
        mask = torch.zeros(1, 12, 12, dtype=torch.bool)
        for i in range(1, len(ends)):
            mask[..., ends[i - 1] : ends[i], ends[i - 1] : ends[i]] = True  # <- here
        return F.scaled_dot_product_attention(q, q, q, attn_mask=mask)


@reported(
    "https://github.com/huggingface/transformers/pull/39121",
    lambda n: (torch.randn(6 + n, 4), torch.tensor([0, 2 + n, 6 + n])),
    "x: tokens, _; ends: _",
)
class BlocksMasked(nn.Module):
    def forward(self, x: Tensor, ends: Tensor) -> Tensor:
        mask = torch.full((x.shape[0], x.shape[0]), -1e9)
        for i in range(1, len(ends)):
            mask[ends[i - 1] : ends[i], ends[i - 1] : ends[i]] = 0  # <- here
        return (x @ x.T + mask).softmax(-1) @ x


@reported(
    "https://github.com/huggingface/diffusers/issues/9417",
    lambda n: (torch.randn(2, 4), torch.tensor([600 - 200 * n, 400])),
)
class StepsOfTimes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("times", torch.arange(800, 0, -200))
        self.register_buffer("sigmas", torch.linspace(1, 0, 5))

    def forward(self, sample: Tensor, times: Tensor) -> Tensor:
        steps = [(self.times == each).nonzero().item() for each in times]
        return sample * self.sigmas[steps][:, None]  # <- here


@reported(
    "https://github.com/huggingface/diffusers/pull/4347",
    lambda n: (torch.randn(2, 4), torch.tensor(600 - 200 * n)),
)
class SecondOfSteps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("times", torch.tensor([800, 600, 600, 400, 200]))
        self.register_buffer("sigmas", torch.linspace(1, 0, 5))

    def forward(self, sample: Tensor, time: Tensor) -> Tensor:
        found = (self.times == time).nonzero()
        step = found[1] if len(found) > 1 else found[0]  # <- here
        return sample * self.sigmas[step]


@reported(
    "https://github.com/pytorch/pytorch/issues/148779",
    lambda n: (torch.tensor([3, 1 + n, 2]), torch.randn(3, 4)),
)
class CountsInNumpy(nn.Module):
    def forward(self, counts: Tensor, x: Tensor) -> Tensor:
        given = counts.numpy()  # <- here
        return x * given.sum() + given.max()


@reported(
    "https://github.com/pytorch/pytorch/issues/127154",
    lambda n: (torch.arange(12), torch.tensor([0, 3 + n, 7, 12])),
)
class RaggedToPadded(nn.Module):
    def forward(self, text: Tensor, ends: Tensor) -> Tensor:
        lengths = ends[1:] - ends[:-1]
        out = torch.zeros(ends.shape[0] - 1, lengths.max(), dtype=torch.int64)
        for i in range(1, ends.shape[0]):
            first, last = ends[i - 1], ends[i]
            out[i - 1, : last - first] = text[first:last]  # <- here
        return out


@reported(
    "https://github.com/pytorch/pytorch/issues/173915",
    lambda n: (torch.tensor([[9, 1, 7, 7, 2 + n]]),),
)
class CountsImages(nn.Module):
    def forward(self, ids: Tensor) -> Tensor:
        starts = torch.argwhere(ids[0] == 9).squeeze(1)
        images = (ids[0][starts + 1] == 7).sum()
        if images > 0:  # <- here
            return ids * 2
        return ids + 1


@reported(
    "https://github.com/OHF-Voice/piper1-gpl/issues/148",
    lambda n: (torch.randn(1, 4, 5), torch.tensor([[[1.0, 2, 1 + n, 3, 1]]])),
)
class SpreadByDuration(nn.Module):
    def forward(self, x: Tensor, durations: Tensor) -> Tensor:
        most = int(durations.sum((1, 2)).max())  # <- here
        ends = durations.cumsum(-1)
        path = (torch.arange(most)[None, None] < ends.transpose(1, 2)).float()
        path = path - F.pad(path, [0, 0, 1, 0])[:, :-1]
        return x @ path
