"""Cases of lists and deques that a loop shortens while it adds to them."""

from __future__ import annotations

from collections import deque

import torch
from torch import nn

from ..case import NON_STRICT, case

Tensor = torch.Tensor


def rows(count: int) -> tuple[Tensor]:
    return (torch.randn(count, 3),)


@case("x: n, _", lambda: rows(5), lambda: rows(2), lambda: rows(8), modes=NON_STRICT)
class Window(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        window = deque([x.new_zeros(3)] * 2, maxlen=2)
        out = []
        for row in x:
            window.append(row)
            out.append(sum(window) / 2)
        return torch.stack(out)


@case("x: n, _", lambda: rows(5), lambda: rows(2), lambda: rows(8), modes=NON_STRICT)
class NamedAsInTemplates(nn.Module):
    """Its names are those of the places in the rewriter's templates."""

    def forward(self, x: Tensor) -> Tensor:
        value = deque([x.new_zeros(3)] * 2, maxlen=2)
        rows = []
        for first in x:
            value.append(first)
            rows.append(sum(value) / 2)
        return torch.stack(rows)


@case("x: n, _", lambda: rows(5), lambda: rows(2), lambda: rows(8), modes=NON_STRICT)
class Turned(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        d = deque()
        for row in x:
            d.appendleft(row * 2)
        return torch.stack(list(d))


@case("x: n, _", lambda: rows(5), lambda: rows(2), lambda: rows(8), modes=NON_STRICT)
class Buffer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        buf = [torch.zeros(3), torch.zeros(3), torch.zeros(3)]
        out = []
        for row in x:
            oldest = buf.pop(0)
            buf.append(row)
            out.append(oldest + buf[0] * buf[1])
        return torch.stack(out)


@case("x: n, _", lambda: rows(5), lambda: rows(2), lambda: rows(8), modes=NON_STRICT)
class Filling(nn.Module):
    """The deque becomes longer in the first iterations."""

    def forward(self, x: Tensor) -> Tensor:
        past = deque(maxlen=3)
        out = []
        for t in range(x.shape[0]):
            past.append(x[t])
            out.append(torch.stack(list(past)).mean(0))
        return torch.stack(out)
