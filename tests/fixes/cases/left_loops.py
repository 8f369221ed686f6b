"""Cases of left loops."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case


@case(
    lambda: (torch.rand(4, 3),),
    lambda: (torch.randn(4, 3),),
    lambda: (torch.ones(4, 3),),
    lambda: (torch.zeros(4, 3),),
)
class ExportsLeft(torch.nn.Module):
    def forward(self, x):
        for n, layer in enumerate([torch.sin, torch.cos]):
            y = layer(x)
            if y.sum() < 0.5:  # stop
                z = y + n
                return z, x
            y += 1
            x = x + y
            if x.norm() > 2:
                return x, y
        return x, x * 2


@case(
    lambda: (torch.rand(4, 3),),
    lambda: (torch.randn(4, 3),),
    lambda: (torch.ones(4, 3),),
    lambda: (torch.zeros(4, 3),),
    modes=NON_STRICT,
)
class Exports255(torch.nn.Module):
    def forward(self, x):
        total = torch.zeros(3)
        for t in range(x.shape[0]):
            if x[t].sum() < 0:  # stop
                continue
            total = total + x[t]

            # the first of them
            total = total * 0.5
        return total


@case(
    lambda: (torch.rand(4, 3),),
    lambda: (torch.randn(4, 3),),
    lambda: (torch.ones(4, 3),),
    lambda: (torch.zeros(4, 3),),
    modes=NON_STRICT,
)
class Exports212(torch.nn.Module):
    def forward(self, x):
        match (x.sum() > 0).sum().item():  # which
            case 0 | 3:
                x = x.sin()
                # comments stay
                return x
            case _:
                return x.cos()


@case(
    lambda: (torch.tensor([[1.0, 2.0], [0.5, -3.0], [2.0, 2.0]]),),
    lambda: (torch.ones(3, 2),),
    lambda: (-torch.ones(3, 2),),
    modes=NON_STRICT,
)
class LoopWithElse(torch.nn.Module):
    def forward(self, x):
        total = x.new_zeros(2)
        for row in x:
            if row.sum() < 0:
                break
            total = total + row
        else:
            total = total * 10
        return total
