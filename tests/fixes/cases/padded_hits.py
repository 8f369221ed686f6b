"""Cases of padded hits."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, STRICT, case

ROWS = (
    "x: n, _",
    lambda: (torch.tensor([[-1.0, 2.0], [1.0, 3.0], [2.0, 4.0], [-2.0, 5.0]]),),
    lambda: (torch.randn(2, 2),),
    lambda: (torch.ones(2, 2),),
    lambda: (torch.full((2, 2), -1.0),),
    lambda: (torch.tensor([[-1.0, 2.0], [1.0, 3.0]]),),
)


@case(*ROWS)
class HitsNumber(torch.nn.Module):
    def forward(self, x):
        hits = (x[:, 0] > 0).nonzero()
        n = x.shape[0]
        if hits.numel() > 0:
            n = hits[0].item()
        return x * (torch.arange(x.shape[0]) < n).unsqueeze(1)


@case(*ROWS, modes=NON_STRICT)
class HitsLastFalse(torch.nn.Module):
    def forward(self, x):
        hits = (x[:, 0] > 0).nonzero()
        end = hits[-1].item() + 1 if len(hits) else 0
        return x * (torch.arange(x.shape[0]) < end).unsqueeze(1)


@case(
    "x: n, _",
    lambda: (torch.tensor([[-1.0, 2.0], [1.0, 3.0], [2.0, 4.0], [-2.0, 5.0]]),),
    lambda: (3.0 * torch.rand(2, 2),),
    lambda: (torch.ones(2, 2),),
    lambda: (torch.full((2, 2), -1.0),),
    lambda: (torch.tensor([[-1.0, 2.0], [1.0, 3.0]]),),
    modes=STRICT,
)
class HitsLastTrue(torch.nn.Module):
    def forward(self, x):
        hits = (x[:, 0] > 0).nonzero()
        end = hits[-1].item() + 1 if len(hits) else 0
        return x * (torch.arange(x.shape[0]) < end).unsqueeze(1)


@case(*ROWS)
class HitsTensor(torch.nn.Module):
    def forward(self, x):
        hits = torch.where(x[:, 0] > 0)[0]
        if not hits.numel():
            first = torch.tensor(-1)
        else:
            first = hits[0]
        return first * 2


@case(*ROWS)
class HitsRow(torch.nn.Module):
    def forward(self, x):
        kept = x[x[:, 0] > 0]
        if kept.shape[0] >= 2:
            row = kept[1] * 3
        else:
            row = x.sum(0)
        return row - 1


@case(*ROWS)
class HitsBothEnds(torch.nn.Module):
    def forward(self, x):
        hits = (x[:, 0] > 0).nonzero()[:, 0]
        span = hits[-1] - hits[0] + 1 if hits.numel() else torch.tensor(0)
        return span * 2


@case(*ROWS)
class HitsTrimmed(torch.nn.Module):
    def forward(self, x):
        hits = (x[:, 0] > 0).nonzero()
        if len(hits) == 0:
            return x
        start, end = hits[0, 0], hits[-1, 0] + 1
        return x[start:end]


@case(
    lambda: (torch.tensor([[1.0, 2.0], [1.0, 3.0], [-2.0, 5.0]]),),
    lambda: (torch.tensor([[-2.0, 5.0], [1.0, 3.0], [1.0, 2.0]]),),
    lambda: (torch.tensor([[1.0, 2.0], [-3.0, -1.0], [-2.0, 5.0]]),),
    lambda: (torch.tensor([[-1.0, -2.0], [-1.0, -3.0], [-2.0, -5.0]]),),
    modes=NON_STRICT,
)
class HitsChoice(torch.nn.Module):
    def forward(self, x):
        hits = (x[:, 0] > 0).nonzero()
        step = hits[1] if len(hits) > 1 else hits[0]
        return x[0] * step


@case(lambda: (torch.tensor([[-1.0, 2.0], [1.0, 3.0]]),))
class HitsDivided(torch.nn.Module):
    def forward(self, x):
        hits = (x[:, 0] > 0).nonzero()
        if hits.shape[0] == 0:
            return x.sum(0)
        return x.sum(0) / hits[0, 0]
