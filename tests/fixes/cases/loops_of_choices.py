"""Cases of loops of choices."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case

ROWS = (
    "x: n, _",
    lambda: (torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0], [2.0, 1.0, 0.0], [-3.0, 1.0, 4.0]]),),
    lambda: (torch.randn(2, 3),),
    lambda: (torch.ones(2, 3),),
    lambda: (torch.full((2, 3), -1.0),),
    lambda: (
        torch.tensor(
            [[float("nan"), float("nan"), float("nan")], [float("nan"), float("nan"), float("nan")]]
        ),
    ),
)


@case(*ROWS, modes=NON_STRICT)
class KeepsAdds(torch.nn.Module):
    def forward(self, x):
        s = x[:, 0]

        total = torch.zeros(3)
        for i in range(x.shape[0]):
            if s[i] > 0:  # keep
                total = total + x[i]
        return total


@case(*ROWS, modes=NON_STRICT)
class KeepsAddsAndCounts(torch.nn.Module):
    def forward(self, x):
        s = x[:, 0]

        total, count = torch.zeros(3), torch.zeros(())
        for i in range(x.shape[0]):
            if s[i] > 0:  # keep
                total += x[i]
                count += 1
        return total / count.clamp(min=1)


@case(*ROWS, modes=NON_STRICT)
class KeepsHasAnElse(torch.nn.Module):
    def forward(self, x):
        s = x[:, 0]

        total = torch.zeros(3)
        for row, score in zip(x, s):
            if score > 0:  # keep
                total = total + row
            else:
                total = total - row
        return total


@case(*ROWS, modes=NON_STRICT)
class KeepsContinues(torch.nn.Module):
    def forward(self, x):
        s = x[:, 0]

        total = torch.zeros(3)
        for i in range(x.shape[0]):
            if s[i] <= 0:  # keep
                continue
            total = total * 0.5 + x[i]
        return total


@case(
    "x: _, n",
    lambda: (torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0], [2.0, 1.0, 0.0], [-3.0, 1.0, 4.0]]),),
    modes=NON_STRICT,
)
class FixedLength(torch.nn.Module):
    def forward(self, x):
        s = x[:, 0]
        for i in range(4):
            if s[i] > 0:
                x = x + s[i]
        return x


@case(
    "x: n, _",
    lambda: (torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0], [2.0, 1.0, 0.0], [-3.0, 1.0, 4.0]]),),
    modes=NON_STRICT,
)
class NumberFirst(torch.nn.Module):
    def forward(self, x):
        s = x[:, 0]
        total = 0
        for i in range(x.shape[0]):
            if s[i] > 0:
                total = total + x[i]
        return total
