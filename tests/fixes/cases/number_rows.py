"""Cases of number rows."""

from __future__ import annotations

import torch
from torch import nn

from ..case import STRICT, case

SPANS = (
    "x: seq, _; spans: n, _",
    lambda: (torch.randn(12, 4), torch.tensor([[0, 3], [2, 6], [7, 11]])),
    lambda: (torch.randn(5, 4), torch.tensor([[0, 4]])),
    lambda: (torch.randn(5, 4), torch.tensor([[3, 3], [0, 90]])),
    lambda: (torch.randn(20, 4), torch.tensor([[-4, -1], [0, 0], [1, 2], [2, 19], [5, 9]])),
)


@case(
    *SPANS,
    eval_mode=True,
)
class PoolsSpans(nn.Module):
    def forward(self, x: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        out = []
        for start, end in spans.tolist():
            out.append(x[start:end].sum(0) / 2)
        return torch.stack(out)


@case(
    *SPANS,
    eval_mode=True,
)
class PoolsPairs(nn.Module):
    """Its numbers come from two tensors, and are divided as Python divides them."""

    def forward(self, x: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        starts, ends = spans[:, 0], spans[:, 1]
        parts = []
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True):
            parts.append(x[a : a + b].sum(0) * (a / (b + 3)))
        return torch.stack(parts)


@case(
    *SPANS,
    eval_mode=True,
)
class PoolsLengths(nn.Module):
    """Its numbers have a name, and are read in a comprehension."""

    def forward(self, x: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        ends = spans[:, 1].tolist()
        return torch.stack([x[:end].sum(0) for end in ends])


@case(
    *SPANS,
    eval_mode=True,
)
class Runs(nn.Module):
    """What goes from one iteration to the next is a sum of the numbers."""

    def forward(self, x: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        outs, start = [], 0
        for length in spans[:, 1].tolist():
            outs.append(x[start : start + length].sum(0))
            start += length
        return torch.stack(outs)


@case(
    "ids: seq",
    lambda: (torch.tensor([4, 2, 7, 8, 2, 1]),),
    lambda: (torch.tensor([2, 1]),),
    lambda: (torch.tensor([1, 2, 1]),),
    lambda: (torch.tensor([2, 2, 2, 5, 2, 3, 3, 2]),),
    lambda: (torch.full((4,), 1),),
    eval_mode=True,
)
class Sentences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        h = self.embedding(ids)
        ends = (ids == 2).nonzero(as_tuple=True)[0]
        start, outs = 0, []
        for end in ends:
            outs.append(h[start : end + 1].mean(0))
            start = end + 1
        return torch.stack(outs)


@case(
    "ids: n",
    lambda: (torch.tensor([0, 0, 1, 2, 1, 2]),),
    lambda: (torch.tensor([0]),),
    lambda: (torch.tensor([0, 1, 0, 1]),),
    lambda: (torch.tensor([3, 1, 2, 0, 0, 3, 3]),),
    lambda: (torch.tensor([-1, -1]),),
    eval_mode=True,
)
class Segments(nn.Module):
    """How many iterations there are is a number from data."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        count = ids.max().item() + 1
        return torch.stack([ids[ids == n].float().mean() for n in range(count)])


@case(
    "ids: n",
    lambda: (torch.tensor([0, 0, 1, 2, 1, 2]),),
    lambda: (torch.tensor([0]),),
    lambda: (torch.tensor([0, 1, 0, 1]),),
    lambda: (torch.tensor([3, 1, 2, 0, 0, 3, 3]),),
    eval_mode=True,
)
class Groups(nn.Module):
    """What it goes through has no name."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(1, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        outs = []
        for group in torch.unique(ids):
            outs.append(self.up(ids[ids == group].float()[:, None]).sum(0))
        return torch.stack(outs)


@case("ids: seq", lambda: (torch.tensor([4, 2, 7, 8, 2, 1]),), eval_mode=True, modes=STRICT)
class SentencesOrNone(Sentences):
    """Without a separator it has another value."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        h = self.embedding(ids)
        outs = []
        for end in (ids == 2).nonzero(as_tuple=True)[0]:
            outs.append(h[: end + 1].mean(0))
        if not outs:
            return h.new_ones(1, 4)
        return torch.stack(outs)
