"""Sets of programs with a fault between them, each beside a clean twin."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

Calls = Mapping[str, tuple[Any, ...]]


class Planted(NamedTuple):
    """A fault, as the kind of finding that tells it, and the set without it."""

    faulty: Callable[[], Calls]
    clean: Callable[[], Calls]
    place: str = ""
    """A piece of the line that is to be named."""


class Prefill(torch.nn.Module):
    """Gives a cache of what it was given."""

    def __init__(self, weight: torch.nn.Linear) -> None:
        super().__init__()
        self.proj = weight
        self.norm = torch.nn.LayerNorm(8)
        self.gate = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        cache = self.gate(self.norm(self.proj(x)))
        return {"logits": cache[:, -1], "cache": cache}


class Decode(torch.nn.Module):
    """Continues it by one."""

    def __init__(self, like: Prefill) -> None:
        super().__init__()
        self.proj, self.norm, self.gate = like.proj, like.norm, like.gate

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> dict[str, torch.Tensor]:
        cache = torch.cat([cache, self.gate(self.norm(self.proj(x)))], dim=1)
        return {"logits": cache.mean(dim=1), "cache": cache}


def _pair() -> tuple[Prefill, Decode]:
    torch.manual_seed(0)
    prefill = Prefill(torch.nn.Linear(8, 8)).eval()
    return prefill, Decode(prefill).eval()


def pair(
    prompt: str = "x: batch, prompt, _",
    decode: str = "x: batch, _, _; cache: batch, past, _",
    cache: torch.Tensor | None = None,
) -> Calls:
    """A prefill and a decode, with shapes of their own."""
    first, then = _pair()
    held = torch.randn(3, 5, 8) if cache is None else cache
    return {
        "prefill": (first, (torch.randn(3, 5, 8),), {}, prompt),
        "decode": (then, (torch.randn(3, 1, 8), held), {}, decode),
    }


def other_weight() -> Calls:
    """The decode is of a copy of the model, in which one weight was changed since."""
    calls = dict(pair())
    model, *rest = calls["decode"]
    changed = copy.deepcopy(model)
    with torch.no_grad():
        changed.gate.bias.add_(1.0)
    return {**calls, "decode": (changed, *rest)}


class Half(torch.nn.Module):
    """A prefill whose cache is of another dtype."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        found = self.inner(x)
        return {"logits": found["logits"], "cache": found["cache"].half()}


def half_cache() -> Calls:
    calls = dict(pair())
    model, *rest = calls["prefill"]
    return {**calls, "prefill": (Half(model).eval(), *rest)}


class Positions(torch.nn.Module):
    """A decode that adds the position of its token."""

    def __init__(self, baked: bool) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(64, 8)
        self.baked = baked

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> dict[str, torch.Tensor]:
        start = 5 if self.baked else cache.shape[1]
        place = torch.arange(start, start + 1)
        cache = torch.cat([cache, x + self.table(place)], dim=1)
        return {"logits": cache.mean(dim=1), "cache": cache}


def positions(baked: bool) -> Calls:
    calls = dict(pair())
    _, *rest = calls["decode"]
    return {**calls, "decode": (Positions(baked).eval(), *rest)}


class Quantizing(torch.nn.Module):
    """A prefill that keeps its cache as 8-bit integers."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"cache": (x / 0.05).round().clamp(-128, 127).to(torch.int8)}


class Reading(torch.nn.Module):
    """A program that reads such a cache."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, cache: torch.Tensor) -> torch.Tensor:
        values = cache.to(torch.float32) * self.scale
        return values.mean(dim=1)


def quantized(scale: float) -> Calls:
    shapes = "batch, past, _"
    return {
        "prefill": (Quantizing(), (torch.randn(3, 5, 8),), {}, f"x: {shapes}"),
        "decode": (
            Reading(scale),
            (torch.ones(3, 5, 8, dtype=torch.int8),),
            {},
            f"cache: {shapes}",
        ),
    }


class Held(torch.nn.Module):
    """A cache in a buffer, which one method fills and the other reads."""

    def __init__(self, writes: bool) -> None:
        super().__init__()
        self.writes = writes
        self.register_buffer("kv", torch.zeros(3, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.writes:
            self.kv.add_(x)
        return x + self.kv


def held(buffers: bool) -> Calls:
    if not buffers:
        return pair()
    x = torch.randn(3, 8)
    return {"prefill": (Held(True), (x,)), "decode": (Held(False), (x,))}


class Writing(torch.nn.Module):
    """Mutates the features that it is given, or does not."""

    def __init__(self, writes: bool) -> None:
        super().__init__()
        self.writes = writes

    def forward(self, last_hidden_state: torch.Tensor) -> torch.Tensor:
        if self.writes:
            last_hidden_state.mul_(2.0)
        return last_hidden_state.sum(dim=1) + 1.0


class Features(torch.nn.Module):
    """An encoder."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"last_hidden_state": x * 3.0}


def writing(writes: bool) -> Calls:
    x = torch.randn(3, 5, 8)
    return {
        "encoder": (Features(), (x,)),
        "prefill": (Writing(writes), (x * 3.0,)),
        "decode": (Writing(False), (x * 3.0,)),
    }


PLANTED: dict[str, Planted] = {
    "length": Planted(
        lambda: pair(decode="x: batch, _, _; cache: batch, _, _"), pair, "planted_sets.py"
    ),
    "sizes": Planted(
        lambda: pair("x: batch, _, _", "x: batch, _, _; cache: batch, _, _", torch.randn(3, 6, 8)),
        pair,
    ),
    "ranges": Planted(
        lambda: pair(
            "x: batch, prompt[2..512], _", "x: batch, _, _; cache: batch, past[2..256], _"
        ),
        lambda: pair(
            "x: batch, prompt[2..256], _", "x: batch, _, _; cache: batch, past[2..256], _"
        ),
    ),
    "dtypes": Planted(half_cache, pair),
    "weights": Planted(other_weight, pair),
    "position": Planted(lambda: positions(True), lambda: positions(False), "planted_sets.py"),
    "quantization": Planted(lambda: quantized(0.04), lambda: quantized(0.05), "planted_sets.py"),
    "state": Planted(lambda: held(True), lambda: held(False)),
    "mutated": Planted(lambda: writing(True), lambda: writing(False)),
}
"""By kind of finding."""
