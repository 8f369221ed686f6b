"""Models with one fault each that torch.export does not tell of, and the same without it."""

import copy
import os
import random
import time
from collections.abc import Callable
from os import environ as environment
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from export_engine.attempt import Kind

from .planted_sizes import equal_one, not_one

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


class ReadsEnvironment(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = float(environment.get("A_SCALE_OF_OURS", "2.5"))
        return x * scale


class SubscriptsEnvironment(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if "A_SCALE_OF_OURS" in os.environ else x


class ReadsFile(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with open(__file__, encoding="utf-8") as file:  # noqa: PTH123 - as people write it
            return x * len(file.readline())


class ReadsPath(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * len(Path(__file__).read_text(encoding="utf-8"))


class ReadsByAnotherName(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        asks = getattr(os, "_".join(["get", "env"]).replace("_", ""))
        return x * 2 if asks("A_SCALE_OF_OURS") else x


class ReadsOnce(nn.Module):
    """All of the above in `__init__` and in what that calls."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = float(os.environ.get("A_SCALE_OF_OURS", "2.5"))
        self.grad = torch.is_grad_enabled()
        self.drop = nn.Dropout(0.1).eval()
        self.set_up()

    def set_up(self) -> None:
        self.length = len(Path(__file__).read_text(encoding="utf-8"))
        self.began = time.time()
        self.threads = torch.get_num_threads()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.grad and self.threads > 0:
            x = x * self.length
        return self.drop(x) * self.scale + self.began


class DropsAndAddsTime(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.1).eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(x) * 0.1 + time.time()


def with_gradients() -> bool:
    return torch.is_grad_enabled()


class AsksGradMode(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sin() if with_gradients() else x.cos()


class AsksDefaultDtype(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if torch.get_default_dtype() == torch.float32:
            return x.sin()
        return x.cos()


class UsesDefaultDtype(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(4, dtype=torch.get_default_dtype())


class AsksDeterministic(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        exact = torch.are_deterministic_algorithms_enabled()
        if not exact:
            return x.sin()
        return x.cos()


class AsksThreads(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(min(torch.get_num_threads(), 2)):
            x = x.sin()
        return x


class MultipliesByThreads(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (torch.get_num_threads() + 0.5)


class AsksStrides(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.stride(0) == 4:
            return x.sin()
        return x.cos()


class AsksContiguous(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        dense = x.is_contiguous()
        return x.sin() if dense else x.cos()


class AsksDevice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        where = x.device
        if where.type == "cpu":
            return x.sin()
        return x.cos()


class WritesToInput(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x[0].add_(1)
        return x * 2


class WritesToCopy(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x.add_(1)
        return x * 2


class WritesToFirst(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.mul(2) + y


class ReadsFirst(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.sin() + len(y.shape)


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


class Predicts(nn.Module):
    def __init__(self, dim: tuple[int, ...]) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> Any:
        return torch.cond((x > 0).all(self.dim), torch.sin, torch.cos, (x,))


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


class Named(nn.Module):
    """Has a layer of a name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.add_module(name, nn.Linear(4, 4))
        self.name = name

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return getattr(self, self.name)(x)


class CatchesTorchsError(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            if x.sum() > 0:
                return x.sin()
        except RuntimeError:
            pass
        return x.cos()


class CatchesItsOwnError(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            return x @ torch.ones(7, 7)
        except RuntimeError:
            return torch.where(x.sum() > 0, x.sin(), x.cos())


class WritesHeld(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.held = [torch.zeros(4)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.held[0][0] = x.sum()
        return x + self.held[0]


class WritesData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros(3, 4)
        y.data[0, 0] = 3
        return x + y


class OneBuffer(nn.Module):
    """A buffer that is written, and read under another name, or under its own."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.register_buffer("cache", torch.zeros(3, 4))
        if name != "cache":
            self.register_buffer(name, self.cache)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.cache.copy_(x)
        return x + self.get_buffer(self.name)


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
    lying, apart = torch.ones(4, 4), torch.ones(4, 4)
    over = (lying[:3], lying[1:])
    return [
        *(
            Plant(Kind.OUTSIDE_VALUE, faulty, ReadsOnce())
            for faulty in (ReadsEnvironment(), SubscriptsEnvironment(), ReadsFile(), ReadsPath())
        ),
        Plant(Kind.OUTSIDE_VALUE, ReadsEnvironment(), ReadsOnce(), strict=True),
        Plant(Kind.OUTSIDE_VALUE, ReadsByAnotherName(), UsesDefaultDtype()),
        *(
            Plant(Kind.OUTSIDE_VALUE, faulty, FollowsDevice())
            for faulty in (
                *(AsksGradMode(), AsksDefaultDtype(), AsksDeterministic(), AsksThreads()),
                *(MultipliesByThreads(), AsksStrides(), AsksContiguous(), AsksDevice()),
            )
        ),
        Plant(Kind.OUTSIDE_VALUE, AsksGradMode(), ReadsOnce(), strict=True),
        Plant(Kind.WRITTEN_INPUT, WritesToInput(), WritesToCopy()),
        Plant(Kind.OVERLAPPING_INPUTS, WritesToFirst(), WritesToFirst(), over, (apart, lying)),
        Plant(Kind.BAKED_VALUE, DropsAndAddsTime(), ReadsOnce()),
        Plant(Kind.BAKED_VALUE, AddsId(), AddsTwo()),
        Plant(Kind.BAKED_VALUE, AddsTime(), AddsTwo()),
        Plant(Kind.BAKED_VALUE, AddsElapsed(), AddsTwo()),
        Plant(Kind.BAKED_VALUE, AddsRandom(), AddsTwo()),
        Plant(Kind.OUTSIDE_VALUE, BranchesOnEnvironment(), Relu()),
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
        Plant(Kind.WRITTEN_CONSTANT, WritesHeld(), Writes(), strict=True),
        Plant(Kind.FROZEN_PARAMETER, HidesParameter(), UsesParameter()),
        Plant(Kind.SHARED_INPUT, Adds(), Adds(), (shared, shared), (shared, shared.clone())),
        Plant(Kind.SHARED_INPUT, Adds(), Adds(), (shared, shared), (shared, shared + 1), "", True),
        Plant(Kind.TRAINING_MODE, training, copy.deepcopy(training).eval()),
        Plant(Kind.TRAINING_MODE, norm, UsesParameter()),
        Plant(Kind.DEVICE_BAKED, MovesToCpu(), FollowsDevice()),
        Plant(Kind.DEVICE_BAKED, MakesOnCpu(), FollowsDevice()),
        Plant(Kind.DTYPE_BAKED, Halves(), FollowsDevice()),
        Plant(Kind.CAUGHT_ERROR, CatchesTorchsError(), CatchesItsOwnError()),
        Plant(Kind.UNTRACED_BRANCH, equal_one(100.0), equal_one(2.0), shapes="x: n, _"),
        Plant(Kind.UNTRACED_BRANCH, not_one(9.0), not_one(2.0), shapes="x: n, _", strict=True),
        Plant(Kind.ALIASED_BUFFERS, OneBuffer("same"), OneBuffer("cache")),
        Plant(Kind.DEVICE_BAKED, nn.GRU(4, 4).eval(), nn.GRUCell(4, 4).eval(), x, (*x, apart[:3])),
        Plant(Kind.NAME_TAKEN, Named("graph"), Named("graphs")),
        Plant(Kind.RANDOM, Draws(), Relu()),
        Plant(Kind.SYNCHRONISES, Nonzero(), Relu()),
        Plant(Kind.RUNTIME_CHECK, ChecksData(), TakesTensor(), (*x, number), (*x, shared)),
        Plant(Kind.PREDICATE, Predicts((1,)), Predicts((0, 1)), strict=True),
        Plant(Kind.FIXED_SIZE, Fixes(), Relu(), shapes="x: *, _"),
        Plant(Kind.FIXED_SIZE, Relu(), Relu(), (torch.ones(1, 4),), x, "x: *, _"),
        Plant(Kind.HIDDEN_CONDITION, Factors(), Relu(), (torch.ones(32, 32),), shapes="x: *, *"),
        Plant(Kind.UNUSED_INPUT, ReadsFirst(), Adds(), (*x, torch.ones(3, 4))),
        Plant(Kind.BAKED_ARGUMENT, TakesNumber(), TakesTensor(), (*x, 2), (*x, shared)),
    ]


class OpPlant(NamedTuple):
    """A custom op with one fault that the program does not show, and what the check says of it."""

    says: str
    make: Callable[[], Callable[..., Any]]
    clean: Callable[[], Callable[..., Any]]


_LIBRARIES: list[torch.library.Library] = []


def custom(
    real: Callable[..., Any], fake: Callable[..., Any], schema: str = "(Tensor x) -> Tensor"
) -> Callable[..., Any]:
    """An op of a library of its own, as `torch.library` makes one without looking at it."""
    name = f"planted_{len(_LIBRARIES)}"
    library = torch.library.Library(name, "DEF")
    library.define(f"op{schema}")
    library.impl("op", real, "CPU")
    torch.library.register_fake(f"{name}::op", fake, lib=library)
    _LIBRARIES.append(library)
    return getattr(torch.ops, name).op


class CallsOp(nn.Module):
    def __init__(self, op: Callable[..., Any]) -> None:
        super().__init__()
        self.op = op

    def forward(self, x: torch.Tensor) -> Any:
        y = self.op(x * 1)
        return (y[0] if isinstance(y, list | tuple) else y).sum()


def _like(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def _writes(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x * 2


def op_plants() -> list[OpPlant]:
    """Fresh ones; each makes its op when it is asked to."""

    def clean() -> Callable[..., Any]:
        return custom(lambda x: x * 2, _like)

    def fake(kernel: Callable[..., Any], real: Any = lambda x: x * 2) -> Any:
        return lambda: custom(real, kernel)

    return [
        OpPlant("returns shape", fake(lambda x: x.new_empty(x.shape[0], 1)), clean),
        OpPlant("returns shape", fake(lambda x: x.new_empty(3, 4)), clean),
        OpPlant("returns shape", fake(lambda x: x.new_empty(12)), clean),
        OpPlant("returns torch.float32", fake(lambda x: x.to(torch.float64)), clean),
        OpPlant(
            "returns strides",
            fake(_like, lambda x: (x * 2).t().contiguous().t()),
            lambda: custom(
                lambda x: (x * 2).t().contiguous().t(),
                lambda x: torch.empty_like(x.t().contiguous()).t(),
            ),
        ),
        OpPlant(
            "writes to its argument `x`",
            fake(_like, _writes),
            lambda: custom(_writes, _like, "(Tensor(a!) x) -> Tensor"),
        ),
        OpPlant("returns an alias of its argument `x`", fake(_like, lambda x: x), clean),
    ]
