"""Sets in which a program writes a cache in place: one that returns it, and one that does not.

A key is a kind of finding and what is special of this case.
"""

from __future__ import annotations

from typing import Any

import torch

from tests.planted_sets import Calls, Planted

_LENGTH = 5


class InPlace(torch.nn.Module):
    """Writes its token into a cache of a fixed length, and returns the cache only where told to."""

    def __init__(self, returns: bool) -> None:
        super().__init__()
        self.returns = returns

    def forward(self, x: torch.Tensor, cache: torch.Tensor, at: torch.Tensor) -> Any:
        cache.index_copy_(1, at, x)
        logits = cache.mean(dim=1)
        return {"logits": logits, "cache": cache} if self.returns else logits


class Filled(torch.nn.Module):
    """Gives a cache of a fixed length, with the prompt at its front."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        cache = torch.nn.functional.pad(x, (0, 0, 0, 16 - x.shape[1]))
        return {"logits": x.mean(dim=1), "cache": cache}


def _in_place(returns: bool) -> Calls:
    x, cache, at = torch.randn(3, _LENGTH, 8), torch.zeros(3, 16, 8), torch.tensor([_LENGTH])
    return {
        "prefill": (Filled(), (x,)),
        "decode": (InPlace(returns), (torch.randn(3, 1, 8), cache, at)),
    }


def _filled_in_place(returns: bool) -> Calls:
    """The prefill fills a cache in place, which the decode returns with more in it."""
    (_, (x,)), decode = _in_place(True).values()
    _, (_, cache, _) = decode
    places = torch.arange(_LENGTH)
    return {"prefill": (InPlace(returns), (x, cache, places)), "decode": decode}


IN_PLACE: dict[str, Planted] = {
    "in_place: of a decode": Planted(
        lambda: _in_place(False), lambda: _in_place(True), "planted_in_place.py"
    ),
    "in_place: of a prefill": Planted(
        lambda: _filled_in_place(False), lambda: _filled_in_place(True), "planted_in_place.py"
    ),
}
