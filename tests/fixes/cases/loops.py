"""Cases of loops."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case


@case(
    "x: b, t, _", lambda: (torch.rand(2, 4, 3),), lambda: (torch.rand(3, 7, 3),), modes=NON_STRICT
)
class SizedExports(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        h, n = x.new_zeros(x.size(0), 3), x.size(1)
        outs = [None] * n
        for t in range(n - 1, -1, -1):
            h = torch.tanh(self.up(x[:, t]) + h)
            outs[t] = h
        return torch.stack(outs, 1)


@case(
    "x: b, t, _",
    lambda: (torch.rand(2, 4, 3),),
    lambda: (torch.rand(3, 1, 3),),
    lambda: (torch.rand(3, 9, 3),),
    modes=NON_STRICT,
)
class ExportsLoop(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        h = x.new_zeros(x.size(0), 3)
        outs = []
        for t in range(x.size(1)):
            # a step
            h = torch.tanh(self.up(x[:, t]) + h)  # kept
            outs.append(h)
        return torch.stack(outs, dim=1), h


@case("x: batch, time, _", lambda: (torch.rand(2, 5, 3),), lambda: (torch.rand(3, 8, 3),))
class BothWaysRound(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        h, outs = x[:, 0], []
        for t in range(x.size(1)):
            h = torch.tanh(h @ self.up.weight.T + (x[:, t] @ self.up.weight).mT.mT)
            outs.append(h)
        return torch.stack(outs, dim=1)


@case(
    "x: n, _",
    lambda: (torch.rand(5, 2),),
    lambda: (torch.rand(3, 2),),
    lambda: (torch.rand(9, 2),),
    modes=NON_STRICT,
)
class Neighbours(torch.nn.Module):
    def forward(self, x):
        n, area = x.shape[0], 0.0
        for i in range(n):
            j = (i + 1) % n
            area = area + x[i, 0] * x[j, 1] - x[j, 0] * x[i, 1]
        return area.abs() / 2


@case(lambda: (torch.ones(2, 2),), modes=NON_STRICT)
class DataLoop(torch.nn.Module):
    def forward(self, x):
        n, ys = x.sum().int().item(), []
        for _ in range(n):
            ys.append(x)
        return ys


@case("x: t, _", lambda: (torch.rand(4, 3),), modes=NON_STRICT)
class KeptLoop(torch.nn.Module):
    def forward(self, x):
        y = x * 1
        for t in range(1, x.size(0)):
            y[t] = y[:t].sum(0) + x[t]
        return y


@case(
    "x: b, t, _", lambda: (torch.rand(2, 4, 3),), lambda: (torch.rand(3, 6, 3),), modes=NON_STRICT
)
class IntegersLoop(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        h, outs = torch.zeros(x.size(0), 3), []
        for t in range(x.size(1)):
            h = torch.tanh(self.up(x[:, t]) + h)
            outs.append(h.argmax(-1))
        return torch.stack(outs, 1)


@case(
    "x: time, _",
    lambda: (torch.rand(5, 3),),
    lambda: (torch.rand(8, 3),),
    lambda: (torch.rand(2, 3),),
)
class ExtendsList(torch.nn.Module):
    def forward(self, x):
        h, outs = x.new_zeros(3), []
        for row in x:
            h = torch.tanh(h + row)
            outs.extend([h, -h])
        return torch.stack(outs)


@case(
    "x: batch, time, _",
    lambda: (torch.randn(2, 5, 4),),
    lambda: (3 * torch.randn(3, 8, 4),),
    lambda: (0.1 * torch.randn(1, 2, 4),),
    modes=NON_STRICT,
)
class Windows(torch.nn.Module):
    def forward(self, x):
        pieces = []
        for start in range(x.shape[1] - 1):
            w = x[:, start : start + 2]
            if w.abs().mean() > 1:
                w = w / 2
            pieces.append(w.mean(1))
        return torch.stack(pieces, 1)


@case(
    "x: time, _",
    lambda: (torch.randn(5, 4),),
    lambda: (3 * torch.randn(8, 4),),
    lambda: (0.1 * torch.randn(4, 4),),
    modes=NON_STRICT,
)
class CarriesWithNeighbours(torch.nn.Module):
    def forward(self, x):
        h = x.new_zeros(4)
        for t in range(1, len(x) - 1):
            h = torch.tanh(h + x[t - 1 : t + 2].mean(0))
            if h.abs().max() > 0.9:
                break
        return h
