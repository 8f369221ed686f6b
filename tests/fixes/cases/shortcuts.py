"""Cases of shortcuts."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case


@case(lambda: (torch.rand(4, 3),), modes=NON_STRICT)
class Same(torch.nn.Module):
    def forward(self, x):
        m = x > -9
        if m.all():
            m = None
        if m is not None:
            x = x.where(m, 0)
        return x


@case(lambda: (torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 0])), modes=NON_STRICT)
class Masks(torch.nn.Module):
    def forward(self, x, m):
        if m.all():
            m = None
        return x if m is None else x * m[:, None] + 1


@case(lambda: (torch.rand(4, 3),), modes=NON_STRICT)
class Changes(torch.nn.Module):
    def forward(self, x):
        m = x + 1
        if x.sum() > 0:
            m = None
        return x if m is None else m * 2


@case(
    lambda: (torch.rand(2, 3),),
    lambda: (torch.zeros(2, 3),),
    lambda: (torch.ones(2, 3),),
    modes=NON_STRICT,
)
class Rows(torch.nn.Module):
    def forward(self, x):
        out = []
        for row in x:
            if row.sum() > 1:
                print("large")
                row = row / 2
            if row.max() > 0.4:
                out.append(-row)
            else:
                out.append(row)
        return torch.stack(out)


@case(
    "x: _, n, _", lambda: (torch.rand(2, 16, 8),), lambda: (torch.rand(2, 25, 8),), modes=NON_STRICT
)
class Grid(nn.Module):
    """Tokens of a square grid."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        side = int(x.shape[1] ** 0.5)
        return x.transpose(1, 2).reshape(x.shape[0], -1, side, side).mean(1)


@case("x: n, _", lambda: (torch.rand(3, 3),))
class Formats(nn.Module):
    """Prints its size."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print(f"{x.shape[0]:>4} of {{n}}")
        return x * 2


@case("x: n, _", lambda: (torch.rand(3, 3),), modes=NON_STRICT)
class Halves(nn.Module):
    """Drops rows until little is left."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while x.shape[0] > 2:
            x = x[1:]
        return x
