"""Models with one fault each that torch.export does not tell of, and the same without it."""

import copy
import os
import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

from export_engine.findings.finding import Kind

SEEN: list[Any] = []
CALLS = 0
TABLE = torch.randn(4)


class Plant(NamedTuple):
    """A call, what is wrong with it, and a twin that is all right."""

    kind: Kind
    faulty: Callable[..., Any]
    clean: Callable[..., Any]
    args: tuple[Any, ...] = (torch.ones(3, 4),)
    clean_args: tuple[Any, ...] | None = None
    shapes: str = ""
    strict: bool = False


class AddsId(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + id(x)


class AddsTime(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        now = time.time()
        return x * (now % 10)


def elapsed() -> float:
    return time.perf_counter() * 2


class AddsElapsed(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + elapsed()


class AddsRandom(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + random.random()


class BranchesOnEnvironment(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if os.getenv("A_SWITCH_OF_OURS"):
            return x.sin()
        return x.cos()


class AddsTwo(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 2.5


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x + self.calls


class CountsInBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return x + self.calls


class KeepsCache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cache: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.relu()
        self.cache.append(y)
        return y


class ReadsCache(nn.Module):
    def forward(self, x: torch.Tensor, cache: dict[str, torch.Tensor]) -> Any:
        return x * 2, {"k": x + cache["k"]}


class FillsCache(nn.Module):
    def forward(self, x: torch.Tensor, cache: dict[str, torch.Tensor]) -> Any:
        cache["k"] = x + cache["k"]
        return x * 2, cache


class LosesCache(nn.Module):
    def forward(self, x: torch.Tensor, cache: dict[str, torch.Tensor]) -> Any:
        cache["k"] = x + cache["k"]
        return x * 2


class AddsLength(KeepsCache):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.cache.append(x)
        return x + len(self.cache)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(4, 4, bias=False)
        self.head = nn.Linear(4, 4, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(x))


class AppendsToGlobal(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        SEEN.append(x)
        return x.relu()


class CountsInGlobal(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        global CALLS  # noqa: PLW0603 - what the finding is about
        CALLS += 1
        return x.relu()


class CountsInClass(nn.Module):
    calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        CountsInClass.calls += 1
        return x.relu()


def appending() -> Callable[..., Any]:
    seen: list[int] = []

    def call(x: torch.Tensor) -> torch.Tensor:
        seen.append(x.shape[0])
        return x.relu()

    return call


class Relu(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu()


class UsesGlobalTensor(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * TABLE


class UsesBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.randn(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.table + torch.tensor([1.0, 2.0, 3.0, 4.0])


class HidesParameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.held = {"weight": self.lin.weight}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lin(x) @ self.held["weight"]


class UsesParameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lin(x) @ self.lin.weight


class MovesToCpu(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to("cpu") + torch.ones(4, device="cpu")


class MakesOnCpu(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.arange(4, device=torch.device("cpu"))


class FollowsDevice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(4, device=x.device, dtype=x.dtype)


class Halves(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.float16) + 1


class Draws(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn_like(x)


class Nonzero(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[x > 0].sum()


class ChecksData(nn.Module):
    def forward(self, x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        n = k.item()
        torch._check(n < 3)
        return x + n


class Fixes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] == 3:
            return x.sin()
        return x.cos()


class Factors(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = x.shape[0] // 8, x.shape[1] // 8
        if a * b == 16:
            return x.sin()
        return x.cos()


class TakesNumber(nn.Module):
    def forward(self, x: torch.Tensor, k: int) -> torch.Tensor:
        return x[:, :k]


class Adds(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + 2 * y


class TakesTensor(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * y


class WritesData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros(3, 4)
        y.data[0, 0] = 3
        return x + y


class Writes(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros_like(x)
        y[0, 0] = 3
        return x + y


def plants() -> list[Plant]:
    """Fresh ones."""
    shared, number = torch.ones(3, 4), torch.tensor([2])
    training = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    norm = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    x = (torch.ones(3, 4),)
    cached = (torch.ones(3, 4), {"k": torch.ones(3, 4)})
    return [
        Plant(Kind.BAKED_VALUE, AddsId(), AddsTwo()),
        Plant(Kind.BAKED_VALUE, AddsTime(), AddsTwo()),
        Plant(Kind.BAKED_VALUE, AddsElapsed(), AddsTwo()),
        Plant(Kind.BAKED_VALUE, AddsRandom(), AddsTwo()),
        Plant(Kind.BAKED_VALUE, BranchesOnEnvironment(), Relu()),
        Plant(Kind.BAKED_VALUE, Counts(), CountsInBuffer()),
        Plant(Kind.BAKED_VALUE, AddsLength(), Relu()),
        Plant(Kind.STATE_CHANGED, Counts(), CountsInBuffer()),
        Plant(Kind.STATE_CHANGED, KeepsCache(), Relu()),
        Plant(Kind.STATE_CHANGED, FillsCache(), ReadsCache(), cached),
        Plant(Kind.STATE_CHANGED, LosesCache(), ReadsCache(), cached),
        Plant(Kind.STATE_CHANGED, AppendsToGlobal(), Relu()),
        Plant(Kind.STATE_CHANGED, CountsInGlobal(), Relu()),
        Plant(Kind.STATE_CHANGED, CountsInClass(), Relu()),
        Plant(Kind.STATE_CHANGED, appending(), Relu()),
        Plant(Kind.STATE_CHANGED, CountsInGlobal(), Relu(), strict=True),
        Plant(Kind.FROZEN_TENSOR, UsesGlobalTensor(), UsesBuffer()),
        Plant(Kind.WRITTEN_CONSTANT, WritesData(), Writes(), strict=True),
        Plant(Kind.FROZEN_PARAMETER, HidesParameter(), UsesParameter()),
        Plant(Kind.SHARED_INPUT, Adds(), Adds(), (shared, shared), (shared, shared.clone())),
        Plant(Kind.SHARED_INPUT, Adds(), Adds(), (shared, shared), (shared, shared + 1), "", True),
        Plant(Kind.TRAINING_MODE, training, copy.deepcopy(training).eval()),
        Plant(Kind.TRAINING_MODE, norm, UsesParameter()),
        Plant(Kind.DEVICE_BAKED, MovesToCpu(), FollowsDevice()),
        Plant(Kind.DEVICE_BAKED, MakesOnCpu(), FollowsDevice()),
        Plant(Kind.DTYPE_BAKED, Halves(), FollowsDevice()),
        Plant(Kind.RANDOM, Draws(), Relu()),
        Plant(Kind.SYNCHRONISES, Nonzero(), Relu()),
        Plant(Kind.RUNTIME_CHECK, ChecksData(), TakesTensor(), (*x, number), (*x, shared)),
        Plant(Kind.FIXED_SIZE, Fixes(), Relu(), shapes="x: *, _"),
        Plant(Kind.FIXED_SIZE, Relu(), Relu(), (torch.ones(1, 4),), x, "x: *, _"),
        Plant(Kind.HIDDEN_CONDITION, Factors(), Relu(), (torch.ones(32, 32),), shapes="x: *, *"),
        Plant(Kind.BAKED_ARGUMENT, TakesNumber(), TakesTensor(), (*x, 2), (*x, shared)),
    ]
