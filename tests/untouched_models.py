"""Models that keep, set or write something when they are called, each in another place."""

from __future__ import annotations

import array
import collections
import contextvars
import dataclasses
import functools
import io
import itertools
import logging
import os
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

TALLY: list[int] = []
TOTAL = 0
ARRAY = np.zeros(4)
TENSOR = torch.zeros(4)
CALLS: contextvars.ContextVar[int] = contextvars.ContextVar("CALLS", default=0)
BY_THREAD = threading.local()
BY_NAME: dict[str, Any] = collections.defaultdict(list)


class Cache:
    def __init__(self) -> None:
        self.tensors: dict[str, list[torch.Tensor]] = {"k": []}
        self.calls = 0


class Slotted:
    __slots__ = ("calls", "last")

    def __init__(self) -> None:
        self.calls = 0


@dataclasses.dataclass
class Settings:
    calls: int = 0
    seen: list[int] = dataclasses.field(default_factory=list)


class Remembers(nn.Module):
    """Keeps things in every place that there is."""

    tally: list[int] = []  # noqa: RUF012 - one for all is the point

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.plain = torch.zeros(4)
        self.cache = Cache()
        self.nested = {"deep": [{"deeper": [0]}]}
        self.generator = torch.Generator().manual_seed(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.cache.calls += 1
        self.cache.tensors["k"].append(x)
        self.nested["deep"][0]["deeper"].append(x.shape[0])
        self.tally.append(1)
        self.plain = self.plain + 1
        return self.norm(x) + self.plain


class RemembersOddly(nn.Module):
    """In objects that are neither plain containers nor modules."""

    total = 0

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.slotted = Slotted()
        self.settings = Settings()
        self.by_name: dict[str, list[int]] = collections.defaultdict(list)
        self.counter: collections.Counter[str] = collections.Counter()
        self.recent: collections.deque[int] = collections.deque([0], maxlen=2)
        self.bytes = bytearray(b"ab")
        self.numbers = array.array("i", [1])
        self.values = np.zeros(4)
        self.draws = np.random.default_rng(1)
        self.own_random = random.Random(2)
        self.text = io.StringIO("text")
        self.count = itertools.count()
        self.ordered: collections.OrderedDict[str, int] = collections.OrderedDict(a=1, b=2)
        self.names = {"a"}

    @functools.cached_property
    def late(self) -> int:
        return 1

    @functools.lru_cache  # noqa: B019 - as models do it
    def table(self, dims: int) -> torch.Tensor:
        return torch.ones(dims)

    @staticmethod
    @functools.cache
    def shared_table(dims: int) -> torch.Tensor:
        return torch.ones(dims)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        type(self).total += 1
        self.slotted.calls += 1
        self.slotted.last = x.shape[0]
        self.settings.calls += self.late
        self.settings.seen.append(x.shape[0])
        self.counter["x"] += 1
        self.recent.append(1)
        self.bytes += b"x"
        self.numbers.append(2)
        self.values += 1
        self.draws.random()
        self.own_random.random()
        self.text.write("more")
        self.ordered.move_to_end("a")
        self.names.add("b")
        return self.layer(x) + len(self.by_name["x"]) + self.table(4) + self.shared_table(4)


class RemembersOutside(nn.Module):
    """In the module's globals, a closure, a default, a context and a thread."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.step = _counted()

    def forward(self, x: torch.Tensor, held: list[int] = []) -> torch.Tensor:  # noqa: B006
        global TOTAL  # noqa: PLW0603 - that is the point
        TOTAL += 1
        TALLY.append(1)
        BY_NAME["x"].append(1)
        held.append(1)
        self.step()
        CALLS.set(CALLS.get() + 1)
        BY_THREAD.calls = getattr(BY_THREAD, "calls", 0) + 1
        ARRAY.__iadd__(1)
        TENSOR.add_(1)
        return self.layer(x) + _remembered(4)


def _counted() -> Callable[[], None]:
    count, seen = 0, [0]

    def step() -> None:
        nonlocal count
        count += 1
        seen.append(count)

    return step


@functools.cache
def _remembered(dims: int) -> torch.Tensor:
    return torch.ones(dims)


class WritesPlainly(nn.Module):
    """Writes to tensors that are no buffers, past autograd's count."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = torch.zeros(4)
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not torch.compiler.is_compiling():
            self.plain.add_(1)
            self.weight.data.mul_(2)
            self.weight.requires_grad_(False)
        return x + self.weight


class Rebuilds(nn.Module):
    """Sets and deletes parameters, buffers, modules and hooks as it goes."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.layer = nn.Linear(4, 4)
        self.spare = nn.Linear(4, 4)
        self.register_buffer("known", torch.zeros(4))
        self.register_buffer("late", None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not torch.compiler.is_compiling():
            self.weight = nn.Parameter(self.weight.detach() + 1)
            self.late = torch.ones(4)
            self.register_buffer("another", torch.ones(4), persistent=False)
            self.more = nn.Linear(4, 4)
            del self.spare
            self.spare = nn.Linear(2, 2)
            self.layer.register_forward_hook(lambda *_: None)
            self.layer.weight.note = 1
            self.layer.train(not self.layer.training)
            self.layer.forward = lambda y: y + 1
        return self.layer(x) + self.known


class Learns(nn.Module):
    """Takes a step of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.layer.weight.grad = torch.ones(4, 4)
        self.optimizer = torch.optim.Adam(self.layer.parameters())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layer(x)
        if not torch.compiler.is_compiling() and torch.is_grad_enabled():
            y.sum().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        return y


class Merges(nn.Module):
    """Merges an adapter into its weights in eval mode, as adapters do."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.merged = False

    def train(self, mode: bool = True) -> Merges:
        super().train(mode)
        if not mode and not self.merged:
            self.layer.weight.data += 1
            self.merged = True
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(self.layer(x), 0.5, self.training)


class Doubles(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Hooked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.seen: list[Any] = []
        self.layer.register_forward_hook(lambda _, args, out: self.seen.append(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


class WithState(nn.Module):
    """Keeps a state in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state.add_(x.sum(0))
        return x + self.state


class WritesInputs(nn.Module):
    """Writes to all that it is given."""

    def forward(
        self, x: torch.Tensor, held: dict[str, Any], values: list[torch.Tensor]
    ) -> torch.Tensor:
        y = x + held["a"]
        x.add_(1)
        held["a"] = y
        held["new"] = y
        values.append(y)
        values[0].mul_(2)
        return y


class SetsSwitches(nn.Module):
    """Sets what the whole process shares."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not torch.compiler.is_dynamo_compiling():
            set_switches()
        return self.layer(x)


class SetsSwitchesAndRaises(SetsSwitches):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        super().forward(x)
        raise ValueError("after it set them")


def set_switches() -> None:
    """Everything that a careless model may set."""
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("medium")
    torch.backends.cudnn.benchmark = True
    torch.backends.mkldnn.enabled = False
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    np.seterr(all="raise")
    np.set_printoptions(precision=2)
    os.environ["SET_BY_A_MODEL"] = "1"
    os.environ.pop("HOME", None)
    sys.path.append("/set-by-a-model")
    sys.setrecursionlimit(2000)
    warnings.simplefilter("error")
    logging.getLogger().setLevel(logging.DEBUG)
    logging.getLogger("torch").setLevel(logging.DEBUG)
    torch.set_anomaly_enabled(True)
    torch.set_warn_always(True)
    os.chdir(Path("/"))


class RaisesLater(nn.Module):
    """Raises an error on its second real call, after it wrote to what it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        if not torch.compiler.is_compiling():
            self.calls += 1
            raise ValueError("not today")
        return y


def own_models() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """Each with its name and arguments."""
    x = torch.randn(3, 4)
    yield "remembers", Remembers(), (x,)
    yield "remembers-oddly", RemembersOddly(), (x,)
    yield "remembers-outside", RemembersOutside(), (x,)
    yield "writes-plainly", WritesPlainly(), (x,)
    yield "rebuilds", Rebuilds(), (x,)
    yield "learns", Learns(), (x,)
    yield "merges", Merges(), (x,)
    yield "hooked", Hooked(), (x,)
    yield "state", WithState(), (x,)
    yield "writes-inputs", WritesInputs(), (x.clone(), {"a": x.clone()}, [x.clone()])
    yield "sets-switches", SetsSwitches(), (x,)
    yield "sets-switches-and-raises", SetsSwitchesAndRaises(), (x,)
    yield "raises-later", RaisesLater(), (x,)
    yield "batch-norm", nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)), (x,)
    yield "frozen", nn.Linear(4, 4).requires_grad_(False), (x,)
    yield "lstm", nn.LSTM(4, 5, batch_first=False), (x,)
    yield "lazy", nn.Sequential(nn.LazyLinear(4), nn.ReLU()), (x,)
    normed = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))
    yield "spectral-norm", normed, (x,)
    yield "weight-norm", nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)), (x,)
    compiled = nn.Sequential(nn.Linear(4, 4), Doubles())
    compiled.compile(backend="eager")
    yield "compiled", compiled, (x,)
