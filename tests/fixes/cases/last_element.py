"""Cases of last element."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from ..case import case


@case(
    "scores: time, _",
    lambda: (F.one_hot(torch.tensor([0, 1, 1, 2, 0, 2, 2]), 4).float(),),
    lambda: (torch.tensor([[0.0, 0.0, 0.0, 1.0]]),),
    lambda: (torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),),
    lambda: (F.one_hot(torch.tensor([0, 0, 3, 3, 1, 3]), 4).float(),),
    lambda: (torch.tensor([[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),),
)
class BestPath(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        best = scores.argmax(-1).tolist()
        out, last = [], -1
        for label in best:
            if label != last:  # noqa: SIM102 - two tests, as some write them
                if label != 0:
                    out.append(label)
            last = label
        return torch.tensor(out, dtype=torch.long)


@case(
    "scores: time, _",
    lambda: (F.one_hot(torch.tensor([0, 1, 1, 2, 0, 2, 2]), 4).float(),),
    lambda: (torch.tensor([[0.0, 0.0, 0.0, 1.0]]),),
    lambda: (torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),),
    lambda: (F.one_hot(torch.tensor([0, 0, 3, 3, 1, 3]), 4).float(),),
    lambda: (torch.tensor([[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),),
)
class Untyped(nn.Module):
    """Without a label its tensor is one of floats."""

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        out, last = [], None
        for label in scores.argmax(-1).tolist():
            if label != last and label != 0:
                out.append(label)
            last = label
        return torch.tensor(out)


@case(
    "scores: time, _",
    lambda: (F.one_hot(torch.tensor([0, 1, 1, 2, 0, 2, 2]), 4).float(),),
    lambda: (torch.tensor([[1.0, 0.0, 0.0, 0.0]]),),
    lambda: (torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),),
    lambda: (F.one_hot(torch.tensor([0, 0, 3, 3, 1, 3]), 4).float(),),
)
class NoneFirst(nn.Module):
    """The first label follows none, and so differs from it."""

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        out, last = [], None
        for label in scores.argmax(-1).tolist():
            if label == last:
                continue
            last = label
            if label != 0:
                out.append(label)
        return torch.tensor(out, dtype=torch.long)
