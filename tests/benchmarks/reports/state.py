"""State that a call changes, leaked tensors, shared inputs, gradients."""

from __future__ import annotations

import torch
from torch import nn

from .case import reported

Tensor = torch.Tensor


@reported("https://github.com/pytorch/executorch/issues/5068", lambda n: (torch.randn(2),))
class RollsBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("past", torch.zeros(6))

    def forward(self, x: Tensor) -> Tensor:
        self.past = torch.cat([self.past[2:], x])
        return self.past.sum()


@reported("https://github.com/pytorch/pytorch/issues/111676", lambda n: (torch.ones(2, 3) + n,))
class AddsToBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.total += x
        return self.total * 2


@reported("https://github.com/pytorch/pytorch/pull/185108", lambda n: (torch.randn(4),))
class FillsEmptyBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", None)

    def forward(self, x: Tensor) -> Tensor:
        self.last = x * 2
        return self.last + 1


@reported("https://github.com/pytorch/pytorch/issues/118922", lambda n: (torch.randn(4, 4),))
class PlainTensorAttribute(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.b = torch.randn(4)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.b


@reported("https://github.com/pytorch/pytorch/issues/153062", lambda n: (torch.randn(4, 4),))
class HookKeepsBuffers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.randn(4, 4))
        self.bank: list[Tensor] = []
        self.register_forward_hook(lambda model, given, out: self.bank.append(self.table))

    def forward(self, x: Tensor) -> Tensor:
        return self.table.sum() + x.sum()


@reported("https://github.com/pytorch/pytorch/issues/160066", lambda n: (torch.randn(2, 4),))
class WritesThroughData(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kept = nn.Parameter(torch.zeros(4), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        self.kept.data = x.mean(0)  # <- here
        return x - self.kept


@reported("https://github.com/pytorch/pytorch/issues/131679", lambda n: (torch.randn(4),))
class CopiesThenWrites(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x.to(torch.float16, copy=True)
        y.mul_(2)
        return y


@reported("https://github.com/pytorch/pytorch/issues/159787", lambda n: (torch.randn(4, 4),))
class KeepsClones(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bank: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.bank.append(x.clone())
        return x + 1


@reported("https://github.com/pytorch/pytorch/issues/159623", lambda n: (torch.rand(4, 4),))
class HalvesParameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            self.weight.div_(2)  # <- here
        return x + self.weight


@reported("https://github.com/pytorch/pytorch/issues/163303", lambda n: (torch.ones(2, 2),))
class ParametersInList(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.p1 = nn.Parameter(torch.ones(2, 2))
        self.flat = [self.p1]

    def forward(self, x: Tensor) -> Tensor:
        return x + self.flat[0]


def _same(n: int) -> tuple[Tensor, ...]:
    if n == 0:
        x = torch.rand(3, 2)
        return x, x
    return torch.rand(3, 2), torch.rand(3, 2)


@reported("https://github.com/pytorch/pytorch/issues/139805", _same)
class SameTensorTwice(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x * 2 + y


@reported(
    "https://github.com/huggingface/transformers/pull/34023",
    lambda n: (torch.randn(2, 5, 4), torch.arange(5).expand(2, 5) < 4 - n),
)
class ZeroesPadding(nn.Module):
    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        hidden = hidden + 0.0
        hidden[~mask] = 0.0
        return hidden


@reported("https://github.com/pytorch/pytorch/issues/125984", lambda n: (torch.randn(3, 4),))
class EnergyAndForces(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        with torch.enable_grad():
            x = x.detach().requires_grad_(True)
            energy = torch.tanh(self.linear(x)).sum()
            return torch.autograd.grad(energy, x)[0]  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/146719",
    lambda n: (torch.rand(4) + 0.1, torch.rand(4)),
)
class GradientOfRoot(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x.requires_grad_()
        z = (x * y * self.weight).square().sum().sqrt()
        return torch.autograd.grad(z, [x])[0]  # <- here


@reported("https://github.com/pytorch/pytorch/issues/128394", lambda n: (torch.randn(3),))
class DeviceContext(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.device("cpu"):
            made = torch.ones(3)
        return x + made


@reported(
    "https://github.com/pytorch/pytorch/pull/184963",
    lambda n: (torch.randn(3),),
)
class ShallowCopy(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        import copy

        return copy.copy(x) + 1  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/169488",
    lambda n: (torch.eye(4).to_sparse(), torch.randn(4, 3)),
)
class SparseTimesDense(nn.Module):
    def forward(self, a: Tensor, x: Tensor) -> Tensor:
        return torch.sparse.mm(a, x)


class Scale(nn.Module):
    """Weights of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


@reported(
    "https://github.com/pytorch/pytorch/issues/150428",
    lambda n: (torch.randn(3 + n, 4),),
    "x: batch, _",
)
class ListOfModules(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scales = [Scale(), Scale()]

    def forward(self, x: Tensor) -> Tensor:
        for scale in self.scales:  # <- here
            x = scale(x)
        return x


@reported(
    "https://github.com/pytorch/pytorch/pull/137495",
    lambda n: (torch.randn(3 + n, 4),),
    "x: batch, _",
)
class LeavesAutocast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            return y.float() @ self.linear.weight


@reported(
    "https://github.com/pytorch/pytorch/issues/130820",
    lambda n: (torch.randn(2, 3, 20 + 4 * n, 24 + 4 * n),),
    "x: batch, _, h, w",
)
class KeepsGrids(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.levels = nn.ModuleList(nn.Conv2d(3, 2, 3, stride, 1) for stride in (2, 4))
        self.hw: list[torch.Size] = []
        self.shape: torch.Size | None = None

    def forward(self, x: Tensor) -> Tensor:
        maps = [level(x) for level in self.levels]  # <- here
        self.hw = [each.shape[-2:] for each in maps]
        if self.shape != x.shape:
            ranges = [[torch.arange(size) for size in each.shape[-2:]] for each in maps]
            grids = [torch.stack(torch.meshgrid(*each, indexing="ij"), -1) for each in ranges]
            self.grid = torch.cat([each.reshape(-1, 2) for each in grids])
            self.shape = x.shape
        return torch.cat([each.flatten(2) for each in maps], 2) * self.grid.T
