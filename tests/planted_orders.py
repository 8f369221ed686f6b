"""Sets whose programs disagree and still run: caches that change places, constants, tied weights.

A key is a kind of finding and what is special of this case.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from tests.planted_sets import Calls, Planted, pair

_PAST = {"decode": "x: batch, _, _; cache.0: batch, past, _; cache.1: batch, past, _"}


class Attention(torch.nn.Module):
    """Attention over keys and values, which it returns in an order of its own."""

    def __init__(self, how: str = "sdpa") -> None:
        super().__init__()
        self.how = how
        self.embed = torch.nn.Linear(8, 8, bias=False)
        self.both = torch.nn.Linear(8, 16)
        self.q, self.k, self.v = (torch.nn.Linear(8, 8) for _ in range(3))
        self.norm = torch.nn.LayerNorm(8)
        self.head = torch.nn.Linear(8, 8, bias=False)
        self.head.weight = self.embed.weight

    def new(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of tokens."""
        if self.how == "fused":
            k, v = self.both(x).split(8, dim=-1)
            return k, v
        return self.k(x), self.v(x)

    def attend(self, x: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """What tokens take of all values."""
        q = self.q(x)
        if self.how == "sdpa":
            found = scaled_dot_product_attention(q, k, v)
        else:
            found = (q @ k.transpose(1, 2) * 0.3).softmax(-1) @ v
        return self.head(self.norm(found))


class Prefill(torch.nn.Module):
    """Gives keys and values, or the other way around."""

    def __init__(
        self, inner: Attention, order: tuple[int, int] = (0, 1), bare: bool = False
    ) -> None:
        super().__init__()
        self.inner, self.order, self.bare = inner, order, bare

    def forward(self, x: torch.Tensor) -> Any:
        x = self.inner.embed(x)
        pair = self.inner.new(x)
        logits = self.inner.attend(x, *pair)
        cache = [pair[each] for each in self.order]
        return (logits, *cache) if self.bare else {"logits": logits, "cache": cache}


class Decode(Prefill):
    """Takes them, and returns both with one more."""

    def forward(self, x: torch.Tensor, cache: list[torch.Tensor]) -> Any:
        x = self.inner.embed(x)
        new = self.inner.new(x)
        pair = [torch.cat([cache[at], new[at]], dim=1) for at in (0, 1)]
        logits = self.inner.attend(x, *pair)
        held = [pair[each] for each in self.order]
        return (logits, *held) if self.bare else {"logits": logits, "cache": held}


def _calls(prefill: Prefill, decode: Decode) -> Calls:
    held = [torch.randn(3, 5, 8), torch.randn(3, 5, 8)]
    return {
        "prefill": (prefill.eval(), (torch.randn(3, 5, 8),), {}, "x: batch, prompt, _"),
        "decode": (decode.eval(), (torch.randn(3, 1, 8), held), {}, _PAST["decode"]),
    }


def _ordered(how: str, first: tuple[int, int], then: tuple[int, int] = (0, 1)) -> Calls:
    torch.manual_seed(0)
    inner = Attention(how)
    return _calls(Prefill(inner, first), Decode(inner, then))


def _bare(then: tuple[int, int]) -> Calls:
    torch.manual_seed(0)
    inner = Attention()
    return _calls(Prefill(inner, bare=True), Decode(inner, then, bare=True))


def _changed(change: Callable[[Attention], None]) -> Calls:
    """The decode is of a copy of the model that was changed."""
    torch.manual_seed(0)
    inner = Attention("eager")
    other = copy.deepcopy(inner)
    change(other)
    return _calls(Prefill(inner), Decode(other))


def _same(_: Attention) -> None:
    pass


def _other_eps(inner: Attention) -> None:
    inner.norm.eps = 1e-3


def _untied(inner: Attention) -> None:
    inner.head.weight = torch.nn.Parameter(inner.embed.weight.detach().clone())


class Rotated(torch.nn.Module):
    """A rotary embedding whose base is a number of the code."""

    def __init__(self, inner: torch.nn.Module, base: float) -> None:
        super().__init__()
        self.inner, self.base = inner, base

    def forward(self, x: torch.Tensor, **kwargs: torch.Tensor) -> Any:
        angles = x[..., :1] / self.base ** (torch.arange(8) / 8)
        return self.inner(x * angles.cos(), **kwargs)


def _based(base: float) -> Calls:
    made = pair()
    (first, *one), (then, *other) = made.values()
    x, cache = other[0]
    return {
        "prefill": (Rotated(first, 10000.0).eval(), *one),
        "decode": (Rotated(then, base).eval(), (x,), {"cache": cache}, other[2]),
    }


class Rounding(torch.nn.Module):
    """Gives a cache that went through another type."""

    def __init__(self, inner: torch.nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.inner, self.dtype = inner, dtype

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        found = self.inner(x)
        return {**found, "cache": found["cache"].to(self.dtype).float()}


def _rounded(dtype: torch.dtype) -> Calls:
    calls = dict(pair())
    model, *rest = calls["prefill"]
    return {**calls, "prefill": (Rounding(model, dtype).eval(), *rest)}


class Fewer(torch.nn.Module):
    """Gives so many cache tensors, or takes them."""

    def __init__(self, inner: torch.nn.Module, count: int) -> None:
        super().__init__()
        self.inner, self.count = inner, count

    def forward(self, x: torch.Tensor, cache: list[torch.Tensor] | None = None) -> Any:
        if cache is None:
            made = self.inner(x)["cache"]
            return {"cache": [made + layer for layer in range(self.count)]}
        return {"cache": [self.inner(x, each)["cache"] for each in cache]}


def _taken(count: int) -> Calls:
    first, then = (each[0] for each in pair().values())
    shapes = "; ".join(["x: batch, _, _", *(f"cache.{at}: batch, past, _" for at in range(count))])
    held = [torch.randn(3, 5, 8) for _ in range(count)]
    return {
        "prefill": (Fewer(first, 2).eval(), (torch.randn(3, 5, 8),), {}, "x: batch, prompt, _"),
        "decode": (Fewer(then, count).eval(), (torch.randn(3, 1, 8), held), {}, shapes),
    }


ORDERS: dict[str, Planted] = {
    **{
        f"order: {how}": Planted(
            lambda how=how: _ordered(how, (1, 0)),  # type: ignore[misc]
            lambda how=how: _ordered(how, (0, 1)),  # type: ignore[misc]
            "planted_orders.py",
        )
        for how in ("sdpa", "eager", "fused")
    },
    "order: of its own next call": Planted(
        lambda: _ordered("sdpa", (0, 1), (1, 0)),
        lambda: _ordered("sdpa", (0, 1)),
        "planted_orders.py",
    ),
    "order: in a tuple": Planted(lambda: _bare((1, 0)), lambda: _bare((0, 1)), "planted_orders.py"),
    "constant: an eps": Planted(
        lambda: _changed(_other_eps), lambda: _changed(_same), "planted_orders.py"
    ),
    "constant: the base of a rotation": Planted(
        lambda: _based(500000.0), lambda: _based(10000.0), "planted_orders.py"
    ),
    "tied": Planted(lambda: _changed(_untied), lambda: _changed(_same)),
    "rounded": Planted(
        lambda: _rounded(torch.bfloat16), lambda: _rounded(torch.float32), "planted_orders.py"
    ),
    "unused": Planted(lambda: _taken(1), lambda: _taken(2)),
}
