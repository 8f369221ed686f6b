"""Cases of checks."""

from __future__ import annotations

import warnings

import torch

from ..case import NON_STRICT, STRICT, case

LOW_AND_HIGH = (
    lambda: (2.0 * torch.rand(4, 3),),
    lambda: (torch.zeros(4, 3),),
    lambda: (torch.full((4, 3), 9.0),),
)


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class RaisesConstant(torch.nn.Module):
    def forward(self, x):
        if x.isnan().any():
            raise ValueError("nan")
        return x * 2


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class RaisesExits(torch.nn.Module):
    def forward(self, x):
        if x.isnan().any():
            exit("nan")
        return x * 2


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class RaisesComputed(torch.nn.Module):
    def forward(self, x):
        if (x < -99).any():
            raise ValueError(f"small {x.shape}")
        return x


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class RaisesFlagFirst(torch.nn.Module):
    def forward(self, x):
        if self.training and x.sum() > 1e9:
            raise ValueError("large")
        return x


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class RaisesOtherwise(torch.nn.Module):
    def forward(self, x):
        if x.sum() > -1e9:
            y = x * 2  # kept
            y = y + 1
        else:
            raise ValueError("no")
        return y


@case(
    lambda: (torch.ones(3, 1),),
    lambda: (torch.full((3, 1), 9.0),),
    modes=NON_STRICT,
)
class NumberBounds(torch.nn.Module):
    def forward(self, x):
        n = x.sum().int().item()
        if n > 5 or n < 0:
            raise ValueError("n")
        elif n == 77:
            return x
        return x * n


@case(lambda: (torch.ones(3, 1),), modes=STRICT)
class Strict78(torch.nn.Module):
    def forward(self, x):
        n = x.sum().int().item()
        if n > 99 or n < 0:
            raise ValueError
        return x * n


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class Warns(torch.nn.Module):
    def forward(self, x):
        if x.max() > 1e3:
            warnings.warn("large")
        return x * 2


@case(*LOW_AND_HIGH, modes=NON_STRICT)
class SelectsNumbers(torch.nn.Module):
    def forward(self, x):
        s = 2.0 if x.max() > 1.5 else 1.0
        return x * s


@case(*LOW_AND_HIGH, modes=NON_STRICT)
class SelectsBoth(torch.nn.Module):
    def forward(self, x):
        if x.max() > 1.5:
            s = 2.0
            t = 1.0
        else:
            s = 1.0
            t = 3.0
        return x * s + t


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class ShapesDiffer(torch.nn.Module):
    def forward(self, x):
        y = x.sum() if x.max() > 0.5 else x
        return y + 1


@case(*LOW_AND_HIGH, modes=NON_STRICT)
class WritesAttribute(torch.nn.Module):
    def forward(self, x):
        if x.max() > 1.5:
            self.mean = self.mean + x[0]
        return x + self.mean


@case(*LOW_AND_HIGH, modes=NON_STRICT)
class WritesElement(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        if x.max() > 1.5:
            y[0] = 7
            y[:, 1].add_(3)
        return y


@case(*LOW_AND_HIGH, modes=NON_STRICT)
class WritesInput(torch.nn.Module):
    def forward(self, x):
        if x.max() > 1.5:
            x.clamp_(max=1.0)
        else:
            x[0] += 1
        return x * 2


@case(*LOW_AND_HIGH, modes=NON_STRICT)
class WritesView(torch.nn.Module):
    def forward(self, x):
        if x.max() > 1.5:
            return x.t()
        return (x + 1).t()


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class Differs(torch.nn.Module):
    def forward(self, x):
        if x.max() > 1.5:
            y = x
        else:
            y = x.long()
        return y.sum()
