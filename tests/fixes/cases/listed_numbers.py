"""Cases of listed numbers."""

from __future__ import annotations

import torch

from ..case import case


@case(lambda: (torch.randn(4, 3),))
class ListedWeights(torch.nn.Module):
    def forward(self, x):
        counts = torch.bincount((x[:, 0] > 0).long() * 2, minlength=4)
        return torch.tensor([1 / c if c > 0 else 0 for c in counts])


@case(
    "x: n, _",
    lambda: (torch.randn(4, 3),),
    lambda: (torch.randn(2, 3),),
    lambda: (torch.randn(6, 3),),
    lambda: (torch.randn(8, 3),),
    lambda: (torch.randn(10, 3),),
)
class ListedRows(torch.nn.Module):
    def forward(self, x):
        return x[torch.arange(x.shape[0]), [int(row.argmax()) for row in x]]


@case(lambda: (torch.randn(4, 3),))
class ListedLengths(torch.nn.Module):
    def forward(self, x):
        sizes = [int(row.sum().abs()) for row in x]
        return torch.LongTensor(sizes), x[:, 0].new_zeros(max(sizes) + 1)


@case(
    lambda: (torch.randn(4, 3),),
    lambda: (torch.full((4, 3), -1.0),),
)
class ListedChosen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        total = 0
        for k, on in enumerate((x[0] > 0).tolist()):
            if on:
                total = total + self.up(x) * k
        return total + x


@case(lambda: (torch.randn(4, 3),))
class ListedTable(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        at = [int(row.argmax()) for row in x]
        return self.up.weight[at]
