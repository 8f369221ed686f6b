"""Cases of shapes."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ..case import NON_STRICT, STRICT, case


@case("image: batch, _, h, w", lambda: (torch.randn(2, 3, 16, 16),), modes=NON_STRICT)
class FixedHead(nn.Module):
    """Its head takes one product of height and width alone."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 2, 3, padding=1), nn.MaxPool2d(4))
        self.head = nn.Linear(2 * 4 * 4, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(image).flatten(1))


@case("x: _, _, h, w", lambda: (torch.randn(1, 1, 30, 20),), modes=STRICT)
class PoolsToAQuarter(nn.Module):
    """Pools to a number of cells that follows from the size."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.adaptive_avg_pool2d(x, (x.shape[2] // 4, x.shape[3] // 4))


@case("x: batch, n, _", lambda: (torch.randn(2, 16, 4),), modes=NON_STRICT)
class ResizesTable(nn.Module):
    """Resizes a table unless it fits; only squares fit."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(1, 25, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[1]
        if n == self.table.shape[1]:
            return x + self.table
        side = torch.sym_int(torch.sym_sqrt(n))
        grid = self.table.reshape(1, 5, 5, 4).permute(0, 3, 1, 2)
        grid = functional.interpolate(grid, size=(side, side), mode="bilinear")
        return x + grid.flatten(2).transpose(1, 2)


@case("x: batch, _", lambda: (torch.randn(4, 3),), modes=NON_STRICT)
class OnlySomeBatches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] not in (4, 8, 16):
            raise ValueError("batch has to be 4, 8 or 16")
        return x * 2


@case("x: b, n", lambda: (torch.ones(2, 6),), modes=NON_STRICT)
class Growing(torch.nn.Module):
    """With a table that a longer input replaces by a longer one."""

    table: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(4.0), persistent=False)
        self.known = 4

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[1]
        if n > self.known:
            self.known = n
            self.register_buffer("table", torch.arange(n).float(), persistent=False)
        return x + self.table[:n]


@case("x: rows, _", lambda: (torch.ones(3, 2),), modes=NON_STRICT)
class AnotherKeyForOdd(nn.Module):
    """Its output's key depends on the size."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"odd" if x.shape[0] % 2 else "even": x * 2}
