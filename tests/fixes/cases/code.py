"""Cases of code."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, add, case

BOTH_SIGNS = (
    lambda: (torch.rand(4, 3),),
    lambda: (4.0 * torch.rand(4, 3),),
    lambda: (-1.0 * torch.rand(4, 3),),
    lambda: (-4.0 * torch.rand(4, 3),),
)

MORE_SIGNS = (
    lambda: (torch.rand(4, 3),),
    lambda: (4.0 * torch.rand(4, 3),),
    lambda: (-1.0 * torch.rand(4, 3),),
    lambda: (-3.0 * torch.rand(4, 3),),
    lambda: (-4.0 * torch.rand(4, 3),),
)


@case(*BOTH_SIGNS)
class IfElseReturn(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # which way
            return x.sin()
        else:
            return x.cos()


@case(*BOTH_SIGNS)
class NewAttribute(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            self.kept = x + 1
        else:
            self.kept = x - 1
        return self.kept * 2


@case(*BOTH_SIGNS)
class EarlyReturn(torch.nn.Module):
    def forward(self, x):
        if (x > 0.5).any():
            return x
        y = x * 2
        return y.cos()


@case(*BOTH_SIGNS)
class AssignsOne(torch.nn.Module):
    def forward(self, x):
        # keep this comment
        if x.sum() > 0:
            y = x.sin()
        else:
            y = x
        return y + 1


@case(*MORE_SIGNS)
class AssignsTwo(torch.nn.Module):
    def forward(self, x):
        a = x + 1
        if x.mean() > 0:
            a, b = a * 2, a - 1
        else:
            b = x.exp()
        return a + b


@case(*MORE_SIGNS)
class NoElse(torch.nn.Module):
    def forward(self, x):
        if x.min() < 0:
            x = x.abs()
        return x.sqrt()


@case(*BOTH_SIGNS)
class Augmented(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        if not (x.sum() > 0):
            y *= 3
        return y


@case(*BOTH_SIGNS)
class ElifChain(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 3:
            return x.sin()
        elif x.sum() < -3:
            return x
        else:
            return x * 2


@case(*BOTH_SIGNS)
class ElifReturns(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 3:
            return x.sin()
        elif x.sum() < -3:
            return x
        return x * 2


@case(*MORE_SIGNS)
class ElseReturns(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 3:
            y = x.sin()
        else:
            return x.tanh()
        return y + 1


@case(*BOTH_SIGNS)
class ElifGoesOn(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 3:
            return x.sin()
        elif x.sum() < -3:
            x = x * 2
        else:
            return x
        return x.cos()


@case(*MORE_SIGNS)
class Conditional(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        y = self.up(x) if x.mean() > 0 else x
        return y + 1


@case(*BOTH_SIGNS)
class AndOr(torch.nn.Module):
    def forward(self, x):
        if (x.sum() > 0 and x.max() < 9) or x.min() > 5:
            return x.tan()
        return x.neg()


@case(*BOTH_SIGNS)
class Temporaries(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            t = x * 2
            y = t.sin()
        else:
            t = x
            y = t.cos()
        return y


@case(*BOTH_SIGNS)
class InALoop(torch.nn.Module):
    def forward(self, x):
        for _ in range(3):
            if x.sum() > 0:
                x = x - 1
        return x


@case(
    lambda: (torch.rand(4, 3),),
    lambda: (4.0 * torch.rand(4, 3),),
    lambda: (-1.0 * torch.rand(4, 3),),
    lambda: (-4.0 * torch.rand(4, 3),),
    lambda: (3.0 * torch.rand(4, 3),),
)
class Modules(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        if x.norm() > 1:
            x = self.up(x)
        return x * 2


@case(*BOTH_SIGNS)
class Flag(torch.nn.Module):
    def forward(self, x):
        loud = bool((x.abs() > 2).any())
        if loud:
            x = x / 2
        return x


@case(*BOTH_SIGNS)
class FlagOfSeveral(torch.nn.Module):
    def forward(self, x):
        wild = x.isnan().any() or not (x.abs() < 2).all()
        if wild:
            x = x / 2
        return x


@case(*BOTH_SIGNS)
class WritesAndReturns(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = None

    def forward(self, x):
        y, low = x.clone(), x.min()
        if x.sum() > 0:
            y[0] = 1
            self.seen = low
            return y * 2, low
        self.seen = low * 2
        y.add_(1)
        low = low - 1
        return y, low


@case(*BOTH_SIGNS)
class NewDict(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return {"logits": x.sin()}
        out = {}
        out["logits"] = x.cos()
        return out


@case(*BOTH_SIGNS)
class NewList(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return [x.sin(), x.cos()]
        out = []
        for k in range(2):
            out.append(x * k)
        return out


@case(
    lambda: (torch.rand(4, 3),),
    lambda: (3.0 * torch.rand(4, 3),),
    lambda: (-1.0 * torch.rand(4, 3),),
    lambda: (-4.0 * torch.rand(4, 3),),
    lambda: (4.0 * torch.rand(4, 3),),
)
class NewTensor(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = torch.zeros_like(x)
            y[0] = x[1]
            y[1:].add_(1)
        else:
            y = x
        return y + 1


@case(*BOTH_SIGNS)
class NewTensorReturned(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        y = x.clone()
        y[:, 1] = 0
        return y


@case(*BOTH_SIGNS)
class TruthOfANumber(torch.nn.Module):
    def forward(self, x):
        done, running = (x[:, 0] > 0).long(), 0.0
        out = torch.zeros(x.shape[0])
        for t in reversed(range(x.shape[0])):
            if not done[t]:
                running = 0.5
            running = x[t, 1] + 0.9 * running
            out[t] = running
        return out


@case(*BOTH_SIGNS)
class Number(torch.nn.Module):
    def forward(self, x):
        k = x.sum().int().item()
        if k > 1:
            return x + 1
        return x - 1


@case(
    lambda: (torch.rand(4, 3),),
    lambda: (torch.ones(4, 3),),
    lambda: (torch.full((4, 3), -1.0),),
    modes=NON_STRICT,
)
class Asserting(torch.nn.Module):
    def forward(self, x):
        assert x.sum() > 0, "must be positive"
        return x * 2


@case(lambda: (torch.rand(3), 2))
def outer(x: torch.Tensor, times: int) -> torch.Tensor:
    def inner(y: torch.Tensor) -> torch.Tensor:
        if y.sum() > 0:
            return y * times
        return y - times

    return inner(x)


@case(
    "x: batch, seq",
    lambda: (torch.randn(2, 5), torch.full((2, 5), True)),
    lambda: (
        torch.randn(3, 7),
        torch.tensor(
            [
                [True, True, False, False, False, False, False],
                [False, True, False, True, False, False, False],
                [True, False, False, False, False, False, True],
            ]
        ),
    ),
    lambda: (
        torch.randn(3, 7),
        torch.tensor(
            [
                [False, False, True, False, False, False, True],
                [False, True, False, False, True, False, True],
                [False, True, False, False, False, True, False],
            ]
        ),
    ),
)
class Padded(torch.nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        if not mask.all():
            x = x.masked_fill(~mask, 0.0)
        return x.mean(1)


@case("x: _, seq; weight: _", lambda: (torch.randn(2, 4), torch.full((6,), True)), modes=NON_STRICT)
class Weighed(torch.nn.Module):
    def forward(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        if not weight.all():
            x = x * weight[:4]  # only at the size of the example
        return x.mean(1)


add(
    "gru",
    lambda: nn.GRU(8, 4),
    "input: seq, batch, _",
    lambda: (torch.randn(7, 5, 8),),
    modes=NON_STRICT,
)
