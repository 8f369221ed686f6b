"""Cases of kept lists."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case

SIGNS = (
    lambda: (torch.rand(5, 3),),
    lambda: (-1.0 * torch.rand(5, 3),),
    lambda: (torch.randn(5, 3),),
    lambda: (
        torch.tensor(
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        ),
    ),
)


@case(
    "x: n, _",
    lambda: (torch.randn(5, 3),),
    lambda: (torch.randn(2, 3),),
    lambda: (torch.randn(7, 3),),
    lambda: (-1.0 * torch.rand(4, 3),),
    modes=NON_STRICT,
)
class KeptAtAnyNumber(torch.nn.Module):
    def forward(self, x):
        keep = []
        for i in range(x.shape[0]):
            if x[i, 0] > 0:  # which
                keep.append(x[i])
        return torch.stack(keep)


@case(
    lambda: (torch.randn(5, 3),),
    lambda: (torch.rand(5, 3),),
    lambda: (-1.0 * torch.rand(5, 3),),
    modes=NON_STRICT,
)
class KeptOrAll(torch.nn.Module):
    def forward(self, x):
        keep = []
        for i in range(x.shape[0]):
            if x[i, 0] > 0:  # which
                keep.append(x[i])
        return torch.stack(keep) if keep else x * 2


@case(*SIGNS)
class AskedStacked(torch.nn.Module):
    def forward(self, x):
        keep = []
        for row in x:
            if row.sum() <= 0.5:
                continue
            keep.append(row / row.sum())
        if len(keep) == 0:
            return torch.ones(3)
        return torch.stack(keep).mean(0)


@case(*SIGNS)
class AskedSummed(torch.nn.Module):
    def forward(self, x):
        keep = []
        for row in x:
            if row.sum() <= 0.5:
                continue
            keep.append(row / row.sum())
        if not keep:
            return torch.ones(3)
        return sum(keep) / len(keep)


@case(*SIGNS)
class AskedListed(torch.nn.Module):
    def forward(self, x):
        keep = []
        for row in x:
            if row.sum() <= 0.5:
                continue
            keep.append(row.sum())
        if len(keep) < 1:
            return torch.tensor(0.5)
        return torch.tensor(keep).mean()


@case(
    "x: n, _",
    lambda: (torch.randn(5, 3),),
    lambda: (2.0 * torch.rand(2, 3),),
    lambda: (torch.randn(7, 3),),
    modes=NON_STRICT,
)
class KeptAndComputed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        keep = []
        for row in x:
            h = self.up(row)
            if h.sum() > -100:
                keep.append(h)
        return torch.stack(keep)


@case(lambda: (torch.randn(5, 3),), modes=NON_STRICT)
class LeftOverFiltered(torch.nn.Module):
    def forward(self, x):
        return torch.stack([row * 2 for row in x if row[0] > -100])


@case("x: n, _", lambda: (torch.randn(5, 3),), modes=NON_STRICT)
class LeftOverRunAtOnce(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        return torch.stack([self.up(row) for row in x])


@case(lambda: (torch.randn(5, 3),), modes=NON_STRICT)
class LeftOverKeptInAList(torch.nn.Module):
    def forward(self, x):
        keep = []
        for row in x:
            if row[0] > -100:
                keep.append(row)
        return torch.stack(keep)
