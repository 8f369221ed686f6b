"""Cases of formulas."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ..case import NON_STRICT, add, case


class Formula(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.max_pool1d(x, x.shape[1])


add(
    "formula",
    lambda: Formula(),
    "x: a, b",
    lambda: (torch.rand(4, 5),),
    lambda: (torch.rand(2, 1),),
    lambda: (torch.rand(6, 2),),
    lambda: (torch.full((1, 1), 0.870671),),
    lambda: (torch.rand(40, 3),),
    modes=NON_STRICT,
)

add(
    "formula-2",
    lambda: Formula(),
    "x: a, b[2..]",
    lambda: (torch.rand(4, 5),),
    lambda: (torch.zeros(0, 3),),
    lambda: (torch.rand(7, 5),),
    modes=NON_STRICT,
)


@case(
    "image: _, _, h, w",
    lambda: (torch.rand(1, 3, 42, 28),),
    lambda: (torch.rand(1, 3, 35, 63),),
    lambda: (torch.rand(1, 3, 70, 50),),
    eval_mode=True,
    modes=NON_STRICT,
)
class Positions(nn.Module):
    """As DINOv2 resizes its positions, by a scale that is no quotient of sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 4, 7, 7)
        self.positions = nn.Parameter(torch.randn(1, 4, 4, 4))

    def resized(self, rows: int, columns: int) -> torch.Tensor:
        down, across = (rows + 0.1) / 4, (columns + 0.1) / 4
        return functional.interpolate(self.positions, scale_factor=(down, across), mode="bicubic")

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        patches: torch.Tensor = self.patches(image)
        return patches + self.resized(image.shape[2] // 7, image.shape[3] // 7)


@case(lambda: (torch.rand(4, 5),), modes=NON_STRICT)
class Reading(torch.nn.Module):
    def forward(self, x):
        return torch.combinations(x[0])
