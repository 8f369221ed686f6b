"""Models that write buffers or inputs, each by another form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional


class Stateful(NamedTuple):
    """A model that writes, its call, and what its calls change."""

    make: Callable[[], nn.Module]
    args: Callable[[], tuple[Any, ...]]
    written: tuple[str, ...]
    """Buffers and inputs whose values are others after a call."""


class Counts(nn.Module):
    """A counter that does not start from 0."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.tensor(5.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x + self.calls


class RunningMean(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.full((3,), 2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x - self.mean


class SlicedCache(nn.Module):
    """Keys are written at a fixed place: the same call again gives the same outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 6, 4), persistent=False)

    def forward(self, key: torch.Tensor) -> torch.Tensor:
        self.keys[:, 2:3] = key
        return (self.keys * key).sum(-1)


class CountedCache(nn.Module):
    """Rows are put where an int counter says."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(8, 3))
        self.register_buffer("at", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.rows.index_put_((self.at,), x)
        self.at.add_(1)
        return self.rows.sum(0)


class Copies(nn.Module):
    """The last input is kept, and only the next call sees it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        difference = x - self.last
        self.last.copy_(x)
        return difference


class WritesInput(nn.Module):
    def forward(self, x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        state.add_(x)
        return state * 2


class ConvState(nn.Module):
    """A ring of the last frames, as of a causal convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(2, 2, 3)
        self.register_buffer("frames", torch.ones(1, 2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rolled = torch.cat([self.frames[:, :, 1:], x], dim=2)
        self.frames.copy_(rolled)
        return self.conv(self.frames)


class Normalizes(nn.Module):
    """Batch norm in training: outputs do not depend on the statistics that it writes."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.batch_norm(  # type: ignore[no-any-return]
            x, self.norm.running_mean, self.norm.running_var, self.norm.weight, self.norm.bias, True
        )


class Derived(nn.Module):
    """Two buffers, one computed from the other."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.tensor(1.0))
        self.register_buffer("square", torch.tensor(1.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x.sum())
        self.square.copy_(self.total * self.total)
        return x * self.square


class Nested(nn.Module):
    """The buffer of a module within a module."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.Sequential(Copies(), nn.ReLU()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)  # type: ignore[no-any-return]


STATEFUL: dict[str, Stateful] = {
    "counter": Stateful(Counts, lambda: (torch.zeros(3),), ("calls",)),
    "running mean": Stateful(RunningMean, lambda: (torch.arange(6.0).view(2, 3),), ("mean",)),
    "cache slice": Stateful(SlicedCache, lambda: (torch.ones(1, 1, 4),), ("keys",)),
    "cache by counter": Stateful(CountedCache, lambda: (torch.ones(1, 3),), ("rows", "at")),
    "copy": Stateful(Copies, lambda: (torch.arange(3.0) + 1,), ("last",)),
    "input": Stateful(WritesInput, lambda: (torch.ones(3), torch.zeros(3)), ("state",)),
    "conv state": Stateful(ConvState, lambda: (torch.full((1, 2, 1), 3.0),), ("frames",)),
    "batch norm": Stateful(
        Normalizes,
        lambda: (torch.arange(12.0).view(4, 3),),
        ("norm.running_mean", "norm.running_var"),
    ),
    "derived": Stateful(Derived, lambda: (torch.ones(2),), ("total", "square")),
    "nested": Stateful(Nested, lambda: (torch.arange(3.0) + 1,), ("layers.1.0.last",)),
}
