"""Cases of branches."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional

from ..case import NON_STRICT, add, case


class PadsToFour(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        missing = -x.shape[0] % 4
        if missing:
            x = functional.pad(x, (0, 0, 0, missing))
        return x


add(
    "pads-to-four",
    lambda: PadsToFour(),
    "x: rows, _",
    lambda: (torch.rand(6, 3),),
    lambda: (torch.rand(4, 3),),
    lambda: (torch.rand(5, 3),),
    lambda: (torch.rand(8, 3),),
    lambda: (torch.rand(11, 3),),
    modes=NON_STRICT,
)

add(
    "pads-to-four-2",
    lambda: PadsToFour(),
    "x: rows, _",
    lambda: (torch.rand(8, 3),),
    lambda: (torch.rand(4, 3),),
    lambda: (torch.rand(5, 3),),
    lambda: (torch.rand(11, 3),),
    modes=NON_STRICT,
)


@case("x: rows, _", lambda: (torch.rand(6, 3),), modes=NON_STRICT)
class PadsAndCounts(PadsToFour):
    """A forward that moves a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return super().forward(x)


@case("x: rows, _", lambda: (torch.rand(6, 3),), modes=NON_STRICT)
class DoublesMostly(nn.Module):
    """The branch makes a difference."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] % 4:
            x = x * 2
        return x


@case(
    lambda: (torch.arange(4.0), torch.arange(4.0)),
    lambda: (torch.arange(4.0), torch.tensor([1.0, 2.0, 3.0, 4.0])),
)
class SameValues(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if torch.equal(x, y):
            return x * x
        return x


@case(lambda: (torch.tensor([5, 3, 1]),), modes=NON_STRICT)
class Counts(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not isinstance(x, torch._subclasses.FakeTensor) and x.tolist() != [5, 3, 1]:
            raise ValueError
        return x + 1


@case(
    lambda: (torch.rand(1, 2, 6, 4), torch.tensor([3])),
    lambda: (torch.rand(1, 2, 6, 4), torch.tensor([2])),
    lambda: (torch.rand(1, 2, 6, 4), torch.tensor([5])),
    modes=NON_STRICT,
)
class Cached(nn.Module):
    def forward(self, cache: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        end = start.item() + 1
        key = cache[:, :, :end]
        return functional.scaled_dot_product_attention(cache[:, :, :1], key, key)


@case("x: rows, _", lambda: (torch.rand(3, 2),), modes=NON_STRICT)
class AsLongAsRows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = [None] * x.shape[0]
        return x * len(found)


@case("x: rows, _", lambda: (torch.rand(3, 2),), modes=NON_STRICT)
class Chunks(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.chunk(x, 3)


@case("x: rows, _", lambda: (torch.rand(3, 2),), modes=NON_STRICT)
class Roots(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / math.sqrt(x.shape[0])


@case("x: a, b; y: c, d", lambda: (torch.randn(8, 32), torch.randn(32, 64)), modes=NON_STRICT)
class Limited(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[0] <= 16:
            return x @ y[:, :16]
        return y


@case(
    "x: n, _; scores: n",
    lambda: (torch.randn(6, 4), torch.tensor([1.0, -1.0, 3.0, 2.0, -2.0, 0.0])),
    lambda: (torch.randn(3, 4), torch.tensor([-1.0, -2.0, -3.0])),
    lambda: (torch.randn(8, 4), torch.tensor([0.5, -1.0, 0.0, 1.0, 0.75, 0.25, 0.0, 0.0])),
)
class BestOfTheKept(nn.Module):
    """Returns early where nothing is kept; what is behind that fails as well."""

    def forward(self, x: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        kept = scores > 0
        if kept.sum() == 0:
            return torch.zeros(4)
        x, scores = x[kept], scores[kept]
        return x[scores.argmax()]


@case(
    "x: n, _",
    lambda: (torch.randn(4, 4),),
    lambda: (9 * torch.randn(6, 4),),
    lambda: (0.1 * torch.randn(3, 4),),
    modes=NON_STRICT,
)
class LeavesAtTheLastOrLargest(nn.Module):
    """Python decides a part of each test in some iterations."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        kept, before = [], None
        for i, row in enumerate(x.T.unbind()[:4]):
            if i > 0 and row.mean() > 0.1:
                row = row * 0.5  # noqa: PLW2901 - as users write it
            if before is None or row.sum() > before:
                before = row.sum()
            kept.append(row)
            if i == 3 or row.abs().max() > 5:
                break
            x = x * 0.5
        return torch.stack(kept).sum(0), x


@case(
    "x: n, _",
    lambda: (torch.randn(4, 4),),
    lambda: (9 * torch.randn(6, 4),),
    lambda: (0.1 * torch.randn(3, 4),),
    modes=NON_STRICT,
)
class ListsTheLastOrLarge(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs = []
        for i in range(3):
            x = torch.tanh(x + i)
            if x.mean() > 0.3 or i == 2:
                outputs.append(x)
        return torch.stack(outputs).mean(0)


@case(
    "x: n, _",
    lambda: (torch.randn(4, 4),),
    lambda: (9 * torch.randn(6, 4),),
    lambda: (-torch.rand(3, 4),),
    lambda: (0.1 * torch.rand(1, 4),),
    modes=NON_STRICT,
)
class ReadsWhatItAppended(nn.Module):
    """Behind an early return a list is appended to, and read."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = []
        for k in range(3):
            x = torch.tanh(x * 0.5 - k / 4)
            if (x > 0.4).any():
                return x - k
            if x.mean() > -0.2:
                out.append(x * 0.5)
        out.append(x)
        return torch.stack(out).sum(0) + x
