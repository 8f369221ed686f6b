"""Sets whose decode counts positions otherwise than their prefill: by a fixed number too far.

A key is a kind of finding and what is special of this case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.planted_sets import Calls, Planted

Placing = Callable[["Placed", torch.Tensor, int, int], torch.Tensor]
"""Tokens with their positions: from which, and how many."""


class Placed(torch.nn.Module):
    """A prefill whose tokens have positions from 0 on."""

    def __init__(self, placing: Placing) -> None:
        super().__init__()
        self.placing = placing
        self.embed = torch.nn.Embedding(64, 8)
        self.proj = torch.nn.Linear(8, 8)
        self.register_buffer("table", torch.randn(64, 8))
        self.register_buffer("frequencies", 1 / 10 ** torch.arange(8.0))

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        cache = self.proj(self.placing(self, x, 0, x.shape[1]))
        return {"logits": cache[:, -1], "cache": cache, "pos": torch.full((1,), x.shape[1])}


class Continued(torch.nn.Module):
    """A decode that goes on so many places after the end of its cache."""

    def __init__(self, like: Placed, off: int) -> None:
        super().__init__()
        self.like, self.off = like, off

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> dict[str, torch.Tensor]:
        new = self.like.placing(self.like, x, cache.shape[1] + self.off, 1)
        cache = torch.cat([cache, self.like.proj(new)], dim=1)
        return {"logits": cache.mean(dim=1), "cache": cache}


class Counting(Continued):
    """A decode that is given the position, and returns the next."""

    def forward(
        self, x: torch.Tensor, cache: torch.Tensor, pos: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        new = x + self.like.embed(pos)
        cache = torch.cat([cache, self.like.proj(new)], dim=1)
        return {"logits": cache.mean(dim=1), "cache": cache, "next_pos": pos + 1 + self.off}


def _embedded(model: Placed, x: torch.Tensor, start: int, count: int) -> torch.Tensor:
    return x + model.embed(torch.arange(start, start + count))


def _sliced(model: Placed, x: torch.Tensor, start: int, count: int) -> torch.Tensor:
    table: Any = model.table
    return x + table[start : start + count]


def _rotated(model: Placed, x: torch.Tensor, start: int, count: int) -> torch.Tensor:
    frequencies: Any = model.frequencies
    angles = (torch.arange(count) + start)[:, None] * frequencies
    return x * angles.cos() + x.roll(1, -1) * angles.sin()


def _calls(placing: Placing, off: int, decode: type[Continued] = Continued) -> Calls:
    torch.manual_seed(0)
    first = Placed(placing).eval()
    then = decode(first, off).eval()
    given = {"pos": torch.tensor([6])} if decode is Counting else {}
    shapes = "x: batch, _, _; cache: batch, past[2..60], _"
    return {
        "prefill": (first, (torch.randn(3, 5, 8),), {}, "x: batch, prompt[2..60], _"),
        "decode": (then, (torch.randn(3, 1, 8), torch.randn(3, 6, 8)), given, shapes),
    }


SHIFTS: dict[str, Planted] = {
    **{
        f"shift: {name}": Planted(
            lambda placing=placing: _calls(placing, 1),  # type: ignore[misc]
            lambda placing=placing: _calls(placing, 0),  # type: ignore[misc]
            "planted_shifts.py",
        )
        for name, placing in (
            ("an embedding", _embedded),
            ("a slice of a table", _sliced),
            ("a rotation", _rotated),
        )
    },
    "shift: of its next call": Planted(
        lambda: _calls(_embedded, 1, Counting),
        lambda: _calls(_embedded, 0, Counting),
        "planted_shifts.py",
    ),
}
