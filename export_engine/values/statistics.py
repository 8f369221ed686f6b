"""Statistics of one tensor, in as few passes over it as they take."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from export_engine.torch_internals import to_strided
from export_engine.values.histogram import NONE, SIZE, Sample, Spread, histograms, sample_of

AT_ONCE = 2**22
"""Elements that are read at one time: a larger tensor is read in parts, which bounds memory."""
IN_CACHE = 2**17
"""Elements that stay in a core's cache while they are read several times."""
_SQUARED = 1e-15, 1e15
"""Between these, squares of float32 neither vanish nor overflow, nor do their sums."""
_CANCELLED = 1e-4
"""Below this share of the mean square, a variance is computed again, in two passes."""
_OF_INTEGERS = torch.float64
"""An integer's statistics are exact up to 2^53."""


class Statistics(NamedTuple):
    """Statistics of a tensor; see `record.OpValues` for each."""

    numel: int
    nans: int
    infs: int
    zeros: int
    minimum: float
    maximum: float
    mean: float
    std: float
    norm: float
    saturated: int
    """How many elements."""
    sample: Sample
    """Of its finite elements."""

    @property
    def spread(self) -> Spread:
        """The counts of its histogram."""
        return Spread(self.sample, self.minimum, self.maximum)

    @property
    def histogram(self) -> tuple[int, ...]:
        """See `histograms`, which takes less for many."""
        return histograms([self.spread])[0]

    @property
    def finite(self) -> int:
        """How many elements are neither NaN nor infinite."""
        return self.numel - self.nans - self.infs


EMPTY = Statistics(0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, NONE)


def statistics_of(value: torch.Tensor) -> Statistics:
    """The statistics of a tensor on any device; it is not changed."""
    plain = _plain(value.detach())
    if plain.numel() == 0:
        return EMPTY
    if plain.numel() > AT_ONCE:
        return _of_parts(plain)
    exact = plain if plain.dtype in (torch.float32, torch.float64) else _widen(plain)
    read = _read(exact)
    if math.isfinite(read.low) and math.isfinite(read.high):
        most = _count_saturated(plain, read.low, read.high)
        return _of_finite(exact, read)._replace(saturated=most)
    finite = torch.isfinite(exact)
    nans, wrong = int(exact.isnan().sum()), int((~finite).sum())
    kept = exact[finite]
    if kept.numel() == 0:
        statistics = EMPTY
    else:
        read = _read(kept)
        statistics = _of_finite(kept, read)._replace(
            saturated=_count_saturated(kept, read.low, read.high)
        )
    infs = wrong - nans
    return statistics._replace(
        numel=plain.numel(), nans=nans, infs=infs, saturated=statistics.saturated + infs
    )


def parts_of(value: torch.Tensor, most: int | None = None) -> Iterator[torch.Tensor]:
    """Views of a tensor that have all its elements, and few enough each; at best itself.

    Args:
        value: on any device.
        most: elements of a part; `AT_ONCE` by default.
    """
    most = AT_ONCE if most is None else most
    if value.numel() <= most or value.layout is not torch.strided:
        yield value
        return
    longest = max(range(value.dim()), key=lambda axis: value.shape[axis])
    for part in value.chunk(2, longest):
        yield from parts_of(part, most)


def _of_parts(plain: torch.Tensor) -> Statistics:
    statistics = EMPTY
    for part in parts_of(plain):
        statistics = merge(statistics, statistics_of(part))
    places = torch.linspace(0, plain.numel() - 1, SIZE, dtype=torch.float64, device="cpu").long()
    sample = plain[torch.unravel_index(places.to(plain.device), plain.shape)].double()
    return statistics._replace(sample=sample_of(sample[torch.isfinite(sample)]))


def merge(one: Statistics, other: Statistics) -> Statistics:
    """The statistics of the elements of two tensors together; the sample is the second's."""
    if not one.finite or not other.finite:
        kept = one if one.finite else other
    else:
        count = one.finite + other.finite
        mean = (one.mean * one.finite + other.mean * other.finite) / count
        square = sum(
            statistics.finite * (statistics.std**2 + (statistics.mean - mean) ** 2)
            for statistics in (one, other)
        )
        kept = other._replace(
            minimum=min(one.minimum, other.minimum),
            maximum=max(one.maximum, other.maximum),
            mean=mean,
            std=math.sqrt(square / count),
            norm=math.hypot(one.norm, other.norm),
        )
    return kept._replace(
        numel=one.numel + other.numel,
        nans=one.nans + other.nans,
        infs=one.infs + other.infs,
        zeros=one.zeros + other.zeros,
        saturated=one.saturated + other.saturated,
    )


def _plain(value: torch.Tensor) -> torch.Tensor:
    """A dense tensor of real numbers."""
    value = to_strided(value)
    if value.is_quantized:
        value = value.int_repr()
    return value.abs() if value.is_complex() else value


def _widen(plain: torch.Tensor) -> torch.Tensor:
    if plain.is_floating_point():
        return plain.to(torch.float32)
    return plain.to("cpu", _OF_INTEGERS) if plain.device.type == "mps" else plain.to(_OF_INTEGERS)


class _Read(NamedTuple):
    """The statistics of one pass over a tensor."""

    low: float
    """NaN if an element is."""
    high: float
    total: float
    square: float
    """Sum of the squares."""
    zeros: int


def _read(exact: torch.Tensor) -> _Read:
    """A tensor of float32 or float64, which is fetched from memory once.

    On a CPU it is read in blocks that stay in the cache, by numpy or torch, whichever takes less;
    another device computes all of it, and is waited for once.
    """
    flat = exact.reshape(-1)
    if flat.device.type != "cpu":
        zeros = (flat == 0).sum().to(flat.dtype)
        read = (*torch.aminmax(flat), flat.sum(), flat.dot(flat), zeros)
        low, high, total, square, count = torch.stack(read).tolist()
        return _Read(low, high, total, square, int(count))
    is_zero = np.empty(min(IN_CACHE, flat.numel()), np.bool_)
    blocks = [_read_block(tensor, is_zero) for tensor in torch.split(flat, IN_CACHE)]
    if len(blocks) == 1:
        return blocks[0]
    lows, highs, totals, squares, zeros_of = zip(*blocks, strict=True)
    low = math.nan if any(map(math.isnan, lows)) else min(lows)
    return _Read(low, max(highs), sum(totals), sum(squares), sum(zeros_of))


def _read_block(block: torch.Tensor, is_zero: np.ndarray[Any, Any]) -> _Read:
    array = block.numpy()
    low, high, zeros = float(array.min()), float(array.max()), 0
    if low <= 0 <= high:
        zeros = int(np.count_nonzero(np.equal(array, 0, out=is_zero[: len(array)])))
    return _Read(low, high, float(block.sum()), float(block.dot(block)), zeros)


def _of_finite(exact: torch.Tensor, read: _Read) -> Statistics:
    low, high = read.low, read.high
    peak = max(-low, high)
    if exact.dtype is torch.float32 and peak and not _SQUARED[0] < peak < _SQUARED[1]:
        read = _read(exact.double())
    count = exact.numel()
    mean, square = read.total / count, read.square / count
    variance = square - mean * mean
    if variance < _CANCELLED * square:
        variance = float(exact.double().std(correction=0)) ** 2 if count > 1 else 0.0
    return Statistics(
        numel=count,
        nans=0,
        infs=0,
        zeros=read.zeros,
        minimum=low,
        maximum=high,
        mean=mean,
        std=math.sqrt(variance),
        norm=math.sqrt(read.square),
        saturated=0,
        sample=sample_of(exact),
    )


def _count_saturated(plain: torch.Tensor, low: float, high: float) -> int:
    """How many elements are at or near the ends of what their dtype can hold."""
    if plain.dtype is torch.bool:
        return 0
    if plain.is_floating_point():
        limit = torch.finfo(plain.dtype).max / 2
        if high < limit and low > -limit:
            return 0
        return int((plain.float().abs() >= limit).sum())
    ends = torch.iinfo(plain.dtype)
    if high < ends.max and (low > ends.min or ends.min == 0):
        return 0  # an unsigned 0 is the usual zero point
    return int(((plain == ends.max) | ((plain == ends.min) & (ends.min != 0))).sum())
