"""Recurrences as torch's scan, whose number of steps may vary in an exported program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from export_engine.process import undone
from export_engine.torch_internals import private_names as torch_has


@undone
def scans_exported() -> Iterator[bool]:
    """While inside, `associative_scan` of a linear recurrence is exported as torch's `scan`.

    Traced without Dynamo, torch's `associative_scan` splits its input again and again, which fixes
    its length. Gives False where this torch has no such ops; then nothing is changed.
    """
    if not (torch_has.SCAN and torch_has.ASSOCIATIVE_SCAN):
        yield False
        return
    module: Any = sys.modules[torch_has.ASSOCIATIVE_SCAN.value.__module__]
    before = module.associative_scan
    module.associative_scan = linear_recurrence
    try:
        yield True
    finally:
        module.associative_scan = before


def linear_recurrence(
    combine_fn: Callable[[Any, Any], Any],
    xs: tuple[torch.Tensor, torch.Tensor],
    dim: int,
    combine_mode: str = "generic",
) -> Any:
    """All states of `state = a * state + b` from zero, with the products of `a` before each.

    The steps are moved to the first dim: torch 2.11's scan gives its results there, whatever `dim`.

    Args:
        combine_fn: of two steps the one that is both: `(a, b), (c, d) -> (a * c, c * b + d)`.
        xs: `a` and `b` of each step.
        dim: that counts steps.
        combine_mode: as `associative_scan` takes it; both give the same.
    """
    steps = tuple(tensor.movedim(dim, 0) for tensor in xs)
    factor, term = (tensor[0] for tensor in steps)

    def step(state: Any, each: Any) -> Any:
        result = combine_fn(state, each)
        return result, tuple(value.clone() for value in result)

    start = torch.ones_like(factor), torch.zeros_like(term)
    _, states = torch_has.SCAN.value(step, start, steps)
    return tuple(state.movedim(0, dim) for state in states)
