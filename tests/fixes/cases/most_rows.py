"""Cases of most rows."""

from __future__ import annotations

import torch
from torch import nn

from ..case import case


@case(
    "boxes: n, _; scores: n",
    lambda: (torch.rand(12, 4), torch.rand(12)),
    lambda: (torch.rand(2, 4), torch.full((2,), 0.1)),
    lambda: (torch.rand(3, 4), torch.rand(3)),
    lambda: (torch.rand(4, 4), torch.rand(4)),
    lambda: (torch.rand(5, 4), torch.rand(5)),
)
class Keeps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.most = 3

    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        kept = scores > 0.5
        boxes, scores = boxes[kept], scores[kept]
        if scores.shape[0] > self.most:
            scores, index = scores.topk(self.most)
            boxes = boxes[index]
        return torch.cat([boxes, scores[:, None]], 1)


@case(
    "boxes: n, _; scores: n",
    lambda: (torch.rand(12, 4), torch.rand(12)),
    lambda: (torch.rand(2, 4), torch.full((2,), 0.1)),
    lambda: (torch.rand(3, 4), torch.rand(3)),
    lambda: (torch.rand(4, 4), torch.rand(4)),
    lambda: (torch.rand(5, 4), torch.rand(5)),
)
class Sorts(nn.Module):
    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        rows = torch.nonzero(scores > 0.5).squeeze(1)
        scores = scores[rows]
        if len(scores) > 4:
            order = scores.argsort(descending=True)[:4]
            rows = rows[order]
        return boxes[rows]
