"""Cases of suppression."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case


@case(
    "boxes: n, _; scores: n",
    lambda: (4.0 * torch.rand(8, 4), torch.rand(8)),
    lambda: (3.0 * torch.rand(1, 4), torch.full((1,), 0.307423)),
    lambda: (3.0 * torch.rand(2, 4), torch.rand(2)),
    lambda: (3.0 * torch.rand(5, 4), torch.rand(5)),
    lambda: (3.0 * torch.rand(12, 4), torch.rand(12)),
)
class Suppresses(nn.Module):
    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        x1, y1, x2, y2 = boxes.unbind(1)
        areas = (x2 - x1) * (y2 - y1)
        order = scores.argsort(descending=True)
        keep = []
        while order.numel() > 0:
            i = order[0]
            keep.append(i)
            if order.numel() == 1:
                break
            w = torch.minimum(x2[i], x2[order[1:]]) - torch.maximum(x1[i], x1[order[1:]])
            h = torch.minimum(y2[i], y2[order[1:]]) - torch.maximum(y1[i], y1[order[1:]])
            inter = w.clamp(min=0) * h.clamp(min=0)
            iou = inter / (areas[i] + areas[order[1:]] - inter)
            order = order[1:][iou <= 0.3]
        return torch.stack(keep)


@case(
    "boxes: n, _; scores: n",
    lambda: (4.0 * torch.rand(8, 4), torch.rand(8)),
    lambda: (3.0 * torch.rand(1, 4), torch.full((1,), 0.307423)),
    lambda: (3.0 * torch.rand(2, 4), torch.rand(2)),
    lambda: (3.0 * torch.rand(5, 4), torch.rand(5)),
    lambda: (3.0 * torch.rand(12, 4), torch.rand(12)),
)
class Helps(nn.Module):
    """Its test is a method's; numbers are collected."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 1.0

    def far(self, box: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        return (box[None] - others).abs().sum(-1)

    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        order = torch.argsort(scores, descending=True)
        keep = []
        while len(order) > 0:
            first = order[0].item()
            keep.append(first)
            rest = order[1:]
            found = torch.where(self.far(boxes[first], boxes[rest]) > self.most)[0]
            order = order[found + 1]
        return boxes[torch.tensor(keep)]


@case(
    "boxes: n, _; scores: n",
    lambda: (4.0 * torch.rand(12, 4), torch.rand(12)),
    lambda: (3.0 * torch.rand(3, 4), torch.rand(3)),
    lambda: (3.0 * torch.rand(5, 4), torch.rand(5)),
    lambda: (4.0 * torch.rand(30, 4), torch.rand(30)),
    lambda: (torch.rand(3, 4), torch.zeros(3)),
)
class Thresholds(Helps):
    """How many boxes there are to begin with depends on data, too."""

    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        above = scores > 0.3
        boxes, scores = boxes[above], scores[above]
        order = scores.argsort(descending=True)
        keep = []
        while order.numel() > 0:
            first = order[0]
            keep.append(first)
            order = order[1:][self.far(boxes[first], boxes[order[1:]]) > self.most]
        keep = torch.stack(keep)
        return torch.cat([boxes[keep], scores[keep][:, None]], 1)


@case("boxes: n, _; scores: n", lambda: (4.0 * torch.rand(8, 4), torch.rand(8)), modes=NON_STRICT)
class Compares(Helps):
    """How far a box is depends on the others that are left."""

    def far(self, box: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        found = super().far(box, others)
        return found - found.mean() * 0.01
