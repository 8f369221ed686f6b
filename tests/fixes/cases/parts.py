"""Cases of parts: of lists, tuples and dicts, of patterns and rows, and of ways that go on."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case

ROWS = (
    "x: batch, n",
    lambda: (torch.randn(4, 6),),
    lambda: (torch.randn(3, 5) + 1,),
    lambda: (torch.randn(7, 3) - 1,),
    lambda: (torch.randn(2, 8) * 4,),
)
STEPS = (
    "x: batch, time, _",
    lambda: (torch.randn(4, 6, 4),),
    lambda: (torch.randn(3, 5, 4) + 1,),
    lambda: (torch.randn(2, 3, 4) * 4,),
)


@case(*ROWS, modes=NON_STRICT)
class SumsInADict(nn.Module):
    def forward(self, x):
        sums = {"row": x.new_zeros(x.shape[1]), "n": 0}
        for row in x:
            if row.mean() > 0:
                sums["row"] = sums["row"] + row
                sums["n"] += 1
        return sums["row"] / max(sums["n"], 1)


@case(*STEPS, modes=NON_STRICT)
class TwoLists(nn.Module):
    def forward(self, x):
        groups = [[], []]
        for t in range(x.shape[1]):
            groups[0].append(x[:, t].sum(1))
            groups[1].append(x[:, t] * 2)
        return torch.stack(groups[0], 1), torch.stack(groups[1], 1)


@case(*STEPS, modes=NON_STRICT)
class StateInATuple(nn.Module):
    def forward(self, x):
        state = (x[:, 0], x[:, 0] * 0)
        for t in range(x.shape[1]):
            h, c = state
            c = c + torch.sigmoid(x[:, t]) * h
            h = torch.tanh(c)
            if h.abs().max() > 0.9:
                h = h * 0.5
            state = (h, c)
        return state[0]


@case(*STEPS, modes=NON_STRICT)
class StatesOfLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(4, 4)

    def forward(self, x):
        states = [x.new_zeros(x.shape[0], 4) for _ in range(2)]
        for t in range(x.shape[1]):
            inner = x[:, t]
            for i in range(2):
                states[i] = torch.tanh(self.cell(inner) + states[i])
                inner = states[i]
        return states[-1]


@case(*ROWS, modes=NON_STRICT)
class MatchesTwo(nn.Module):
    def forward(self, x):
        match [int(x.argmax() % 2), int(x.argmin() % 2)]:
            case [0, 0]:
                return x
            case [0, 1]:
                return -x
            case [a, b]:
                return x * (a + b)


@case(*ROWS, modes=NON_STRICT)
class BestOfRows(nn.Module):
    def forward(self, x):
        return x - max(row.sum() for row in x)


@case(*ROWS, modes=NON_STRICT)
class Mapped(nn.Module):
    def forward(self, x):
        return torch.stack(list(map(lambda row: row.softmax(-1) if row.sum() > 0 else row, x)))


@case(*ROWS, modes=NON_STRICT)
class NamedWays(nn.Module):
    def forward(self, x):
        mode = "scale" if x.std() > 1 else "shift"
        if mode == "scale":
            return x / x.std()
        return x + 1


@case(*ROWS, modes=NON_STRICT)
class BiasOrNone(nn.Module):
    def forward(self, x):
        bias = None
        if x.mean() > 0:
            bias = x.mean(0)
        y = x * 2
        if bias is not None:
            y = y + bias
        return y


@case(
    "x: batch, n; lengths: batch",
    lambda: (torch.randn(4, 6), torch.tensor([1, 6, 3, 2])),
    lambda: (torch.randn(2, 3), torch.tensor([3, 2])),
    modes=NON_STRICT,
)
class LengthsOfRows(nn.Module):
    def forward(self, x, lengths):
        return torch.stack([x[i, :n].mean() for i, n in enumerate(lengths)])


@case(*ROWS, modes=NON_STRICT)
class TensorAndSize(nn.Module):
    def forward(self, x):
        return torch.relu(x) if x.mean() > 0 and x.shape[0] > 2 else x


@case(*ROWS, modes=NON_STRICT)
class CountsDown(nn.Module):
    def forward(self, x):
        k = 0
        while k < 4:
            if x.norm() < 1:
                break
            x = x * 0.5
            k += 1
        else:
            x = x + 1
        return x, k


@case(*ROWS, modes=NON_STRICT)
class Buffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("best", torch.zeros(()))

    def forward(self, x):
        if x.max() > 1:
            return x * 2
        self.best.copy_(torch.maximum(self.best, x.max()))
        return x
