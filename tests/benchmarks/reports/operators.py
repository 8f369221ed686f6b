"""Control-flow operators, custom ops, and Python that strict mode does not trace."""

from __future__ import annotations

import torch
from torch import nn

from .case import reported

Tensor = torch.Tensor


def _signed(n: int) -> tuple[Tensor]:
    return (torch.rand(4) * (-1) ** n,)


@reported("https://github.com/pytorch/pytorch/issues/144691", _signed)
class CondAndNonzero(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        def some(x: Tensor) -> Tensor:
            return x[x.nonzero()[:, 0]] + 1

        def none(x: Tensor) -> Tensor:
            return x.clone()

        return torch.cond(x.sum() > 0, some, none, (x,))  # <- here


@reported("https://github.com/pytorch/pytorch/pull/186462", _signed)
class CondWrites(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        def add(x: Tensor) -> Tensor:
            x.add_(1)  # <- here
            return x * 2

        def keep(x: Tensor) -> Tensor:
            return x * 3

        return torch.cond(x.sum() > 0, add, keep, (x.clone(),))  # <- here


@reported("https://github.com/pytorch/pytorch/issues/153832", _signed)
class CondIdentity(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        def same(x: Tensor) -> Tensor:
            return x  # <- here

        def sine(x: Tensor) -> Tensor:
            return x.sin()

        return torch.cond(x.sum() > 0, same, sine, (x,))


@reported("https://github.com/pytorch/pytorch/issues/156724", _signed)
class CondOfSizes(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        def found(x: Tensor) -> Tensor:
            return torch.nonzero(x > 0)[:, 0]

        def all_of(x: Tensor) -> Tensor:
            return torch.arange(x.shape[0])

        return torch.cond(x.sum() > 0, found, all_of, (x,))  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/153705",
    lambda n: (torch.rand(3 + n, 4), torch.rand(5, 4)),
    "x: rows, _; y: _, _",
)
class ScanByIndex(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        from torch._higher_order_ops import scan

        def body(z: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
            return z + 1, ((row - y) ** 2).sum(-1)

        return scan(body, torch.zeros(1), x)[1]


if not hasattr(torch.ops.reports_of_users, "doubled"):

    @torch.library.custom_op("reports_of_users::doubled", mutates_args=())
    def doubled(x: Tensor) -> Tensor:
        return torch.from_numpy(x.numpy() * 2)


@reported(
    "https://github.com/pytorch/pytorch/pull/150809",
    lambda n: (torch.randn(3 + n, 4),),
    "x: rows, _",
)
class OpWithoutFake(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.ops.reports_of_users.doubled(x) + 1  # <- here


@reported("https://github.com/pytorch/pytorch/issues/137629", lambda n: (torch.randn(2, 6, 4),))
class RearrangeLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        from einops.layers.torch import Rearrange

        self.split = Rearrange("b (h n) d -> b h n d", h=2)

    def forward(self, x: Tensor) -> Tensor:
        return self.split(x)


@reported("https://github.com/pytorch/pytorch/issues/93905", lambda n: (torch.randn(3, 4),))
class EinopsFunction(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        from einops import rearrange, repeat

        return repeat(rearrange(x, "b n -> (b n)"), "n -> n k", k=2).sin()


@reported("https://github.com/pytorch/pytorch/pull/167555", lambda n: (torch.randn(3, 4),))
class MovesItself(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear.to(x.dtype)(x)


@reported(
    "https://github.com/pyg-team/pytorch_geometric/issues/10703",
    lambda n: (torch.randn(10, 3), torch.randn(10, 3)),
)
class NearestNeighbours(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        found = []
        distances = torch.cdist(x, y)
        for row in range(3):
            near = (distances[row] < 1.5).nonzero().squeeze(-1)
            index = near[: min(4, len(near))]  # <- here
            found.append(y[index].sum(0))
        return torch.stack(found)


@reported(
    "https://github.com/pytorch/pytorch/pull/190669",
    lambda n: (torch.randn(3 + n, 5 + 2 * n),),
    "x: variables, observations",
)
class Covariance(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cov(x)  # <- here


@reported(
    "https://github.com/pytorch/pytorch/pull/184939",
    lambda n: (torch.tensor(4 + n), torch.randn(3)),
)
class StepsFromData(nn.Module):
    def forward(self, count: Tensor, x: Tensor) -> Tensor:
        return torch.linspace(0, 1, count.item())[:, None] * x  # <- here
