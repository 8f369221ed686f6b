"""More sets with a fault between their programs: what a decode makes of its cache.

A key is a kind of finding and what is special of this case.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from tests.planted_sets import Calls, Decode, Planted, Prefill, pair

_LENGTH = 5
Place = Callable[["Placed", int], torch.Tensor]


class Placed(torch.nn.Module):
    """A decode that adds something that depends on the position of its token, or should."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.positions = torch.nn.Embedding(64, 8)
        self.register_buffer("table", torch.randn(64, 8))
        self.register_buffer("frequencies", 1 / 10 ** torch.arange(8.0))

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> dict[str, torch.Tensor]:
        cache = torch.cat([cache, x + self.place(self, cache.shape[1])], dim=1)
        return {"logits": cache.mean(dim=1), "cache": cache}


def _placed(place: Place) -> Callable[[], Calls]:
    def calls() -> Calls:
        made = dict(
            pair("x: batch, prompt[2..63], _", "x: batch, _, _; cache: batch, past[2..63], _")
        )
        _, *rest = made["decode"]
        return {**made, "decode": (Placed(place).eval(), *rest)}

    return calls


_PLACES: dict[str, tuple[Place, Place]] = {
    "one row of a table": (
        lambda model, _: model.table[_LENGTH],
        lambda model, length: model.table[length : length + 1],
    ),
    "a slice of a table": (
        lambda model, _: model.table[_LENGTH : _LENGTH + 1],
        lambda model, length: model.table[length : length + 1],
    ),
    "a filled index": (
        lambda model, _: model.positions(torch.full((1,), _LENGTH)),
        lambda model, length: model.positions(torch.full((1,), length)),
    ),
    "an index plus a number": (
        lambda model, _: model.positions(torch.zeros(1, dtype=torch.long) + _LENGTH),
        lambda model, length: model.positions(torch.zeros(1, dtype=torch.long) + length),
    ),
    "an index into a buffer": (
        lambda model, _: model.table[torch.arange(_LENGTH, _LENGTH + 1)],
        lambda model, length: model.table[torch.arange(length, length + 1)],
    ),
    "a rotation": (
        lambda model, _: (torch.arange(_LENGTH, _LENGTH + 1)[:, None] * model.frequencies).cos(),
        lambda model, length: (torch.arange(length, length + 1)[:, None] * model.frequencies).cos(),
    ),
    "a rotation by a number": (
        lambda model, _: (_LENGTH * model.frequencies).sin(),
        lambda model, length: (length * model.frequencies).sin(),
    ),
}
"""Per case a position that is baked in, and one that is not."""


class Static(torch.nn.Module):
    """Writes into a cache of a fixed length."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(self, x: torch.Tensor, cache: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        if self.how == "first":
            cache[:, : x.shape[1]] = x
        elif self.how == "given":
            cache.index_copy_(1, at, x)
        elif self.how == "rolled":
            cache.copy_(cache.roll(-1, 1))
            cache[:, 15:16] = x
        elif self.how == "layers":
            for layer in range(2):
                cache[:, :, layer] = x[:, -1:].sum(-1) + layer
        elif self.how == "slice":
            cache[:, _LENGTH : _LENGTH + 1] = x
        else:
            cache.index_copy_(1, torch.tensor([_LENGTH]), x)
        return cache.mean(dim=1) + at


def _static(how: str) -> Callable[[], Calls]:
    def calls() -> Calls:
        cache, at = torch.zeros(3, 16, 8), torch.tensor([_LENGTH])
        return {
            "prefill": (Static("first"), (torch.randn(3, _LENGTH, 8), cache, at)),
            "decode": (Static(how), (torch.randn(3, 1, 8), cache, at)),
        }

    return calls


class Kept(torch.nn.Module):
    """A decode that returns its logits, and the cache only where it is told to."""

    def __init__(self, inner: torch.nn.Module, returns: bool) -> None:
        super().__init__()
        self.inner = inner
        self.returns = returns

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> dict[str, torch.Tensor]:
        found = self.inner(x, cache)
        return found if self.returns else {"logits": found["logits"]}


def _kept(returns: bool) -> Calls:
    calls = dict(pair())
    model, *rest = calls["decode"]
    return {**calls, "decode": (Kept(model, returns).eval(), *rest)}


class Layers(torch.nn.Module):
    """A prefill or a decode of so many layers."""

    def __init__(self, inner: torch.nn.Module, count: int) -> None:
        super().__init__()
        self.inner = inner
        self.count = count

    def forward(
        self, x: torch.Tensor, cache: list[torch.Tensor] | None = None
    ) -> dict[str, list[torch.Tensor]]:
        made = []
        for layer in range(self.count):
            found = self.inner(x) if cache is None else self.inner(x, cache[layer])
            made.append(found["cache"] + layer)
        return {"cache": made}


def _layers(count: int) -> Calls:
    first, then = (each[0] for each in pair().values())
    assert isinstance(first, Prefill)
    assert isinstance(then, Decode)
    held = [torch.randn(3, 5, 8), torch.randn(3, 5, 8)]
    return {
        "prefill": (Layers(first, count), (torch.randn(3, 5, 8),), {}, "x: batch, prompt, _"),
        "decode": (
            Layers(then, 2),
            (torch.randn(3, 1, 8), held),
            {},
            "x: batch, _, _; cache.0: batch, past, _; cache.1: batch, past, _",
        ),
    }


def _other_model() -> Calls:
    """The decode is of another checkpoint: no weight of it is the prefill's."""
    calls = dict(pair())
    model, *rest = calls["decode"]
    changed = copy.deepcopy(model)
    with torch.no_grad():
        for each in changed.parameters():
            each.add_(0.1)
    return {**calls, "decode": (changed, *rest)}


class Scaled(torch.nn.Module):
    """Has a scale as a number, or in a buffer."""

    def __init__(self, scale: float, zero: int, name: str = "") -> None:
        super().__init__()
        self.number, self.zero, self.name = scale, zero, name
        if name:
            self.register_buffer(name, torch.tensor([scale]))

    @property
    def scale(self) -> Any:
        """The one or the other."""
        return getattr(self, self.name) if self.name else self.number


class Writer(Scaled):
    """Keeps its cache as 8-bit integers."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        whole = (x / self.scale).round() + self.zero
        return {"cache": whole.clamp(0, 255).to(torch.uint8)}


class Reader(Scaled):
    """Reads such a cache."""

    def forward(self, cache: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = (cache.float() - self.zero) * self.scale
        return values.mean(dim=1)


def _scaled(scale: float, zero: int, named: bool = False) -> Callable[[], Calls]:
    def calls() -> Calls:
        writer = Writer(0.05, 128, "written_by" if named else "")
        reader = Reader(scale, zero, "read_by" if named else "")
        held = torch.ones(3, 5, 8, dtype=torch.uint8)
        return {"prefill": (writer, (torch.randn(3, 5, 8),)), "decode": (reader, (held,))}

    return calls


class Wrapped(torch.nn.Module):
    """A decode that reads the model's own buffer, below its own name."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        held: Any = self.model.kv
        return x + held


class Filling(torch.nn.Module):
    """A prefill that fills a buffer, or only reads it."""

    def __init__(self, fills: bool) -> None:
        super().__init__()
        self.fills = fills
        self.register_buffer("kv", torch.zeros(3, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.fills:
            self.kv.copy_(x)
        return x * self.kv


def _filled(fills: bool) -> Calls:
    model = Filling(fills)
    x = torch.randn(3, 8)
    return {"prefill": (model, (x,)), "decode": (Wrapped(model), (x,))}


CACHES: dict[str, Planted] = {
    **{
        f"position: {name}": Planted(_placed(baked), _placed(free), "planted_caches.py")
        for name, (baked, free) in _PLACES.items()
    },
    "position: a write to a slice": Planted(_static("slice"), _static("rolled")),
    "position: a write to a layer": Planted(_static("slice"), _static("layers")),
    "position: a write at an index": Planted(_static("index"), _static("given")),
    "lost": Planted(lambda: _kept(False), lambda: _kept(True)),
    "missing": Planted(lambda: _layers(1), lambda: _layers(2)),
    "weights: all of them": Planted(_other_model, pair),
    "length: the batch of the first": Planted(lambda: pair("x: _, prompt, _"), pair),
    "quantization: zero points": Planted(_scaled(0.05, 120), _scaled(0.05, 128)),
    "quantization: held scales": Planted(_scaled(0.04, 128, True), _scaled(0.05, 128, True)),
    "state: below another name": Planted(lambda: _filled(True), lambda: _filled(False)),
}
