"""Histograms of many tensors at once, each of a sample of its elements.

A tensor's sample is taken when it is there; what is computed of it takes longer to start than to
do, so that is done for many together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch

from export_engine.record import BINS

SIZE = 1024
"""Elements that a histogram is made of, at least; evenly spaced."""
Sample: TypeAlias = np.ndarray[Any, Any]


class Spread(NamedTuple):
    """The counts of a histogram."""

    sample: Sample
    """Some of a tensor's finite elements."""
    low: float
    """The least of all of them."""
    high: float


NONE = np.empty(0, np.float32)
"""No elements, so no histogram."""


def sample_of(value: torch.Tensor) -> Sample:
    """Elements of a tensor, evenly spaced in its own order: a copy on the CPU."""
    flat = value.reshape(-1)
    return flat[:: max(flat.numel() // SIZE, 1)].cpu().numpy().copy()


def histograms(spreads: Sequence[Spread]) -> list[tuple[int, ...]]:
    """The percent of elements in each of `BINS` bins from the least to the greatest.

    A bin that has any is never 0, and where all are equal they are in the bin in the middle.
    """
    counts = np.array([len(spread.sample) for spread in spreads], np.int64)
    ends = (
        np.array([(spread.low, spread.high) for spread in spreads], np.float64).reshape(-1, 2) / 2
    )
    middle, half = ends.sum(1), ends[:, 1] - ends[:, 0]
    scale = np.divide(1.0, half, out=np.zeros_like(half), where=half > 0)
    samples = np.concatenate([NONE, *(spread.sample for spread in spreads)]).astype(np.float64)
    rows = np.repeat(np.arange(len(spreads)), counts)
    with np.errstate(over="ignore", invalid="ignore"):
        places = ((samples - middle[rows]) * scale[rows] + 1) * (BINS / 2)
    bins = np.nan_to_num(places, nan=BINS / 2).clip(0, BINS - 1).astype(np.int64)
    result = np.bincount(rows * BINS + bins, minlength=len(spreads) * BINS).reshape(-1, BINS)
    percent = np.maximum(np.rint(result * (100 / np.maximum(counts, 1))[:, None]), result > 0)
    return [tuple(value) for value in percent.astype(np.int64).tolist()]
