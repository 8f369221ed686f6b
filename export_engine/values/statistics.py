"""Statistics of one tensor, in as few passes over it as they take."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from export_engine.record import BINS

AT_ONCE = 2**22
"""Elements that are read at one time: a larger tensor is read in parts, which bounds memory."""
_SAMPLE = 1024
"""Elements that a histogram is made of, evenly spaced."""
_CANCELLED = 1e-4
"""Below this share of the mean square, a variance is computed again, in two passes."""
_OF_INTEGERS = torch.float64
"""An integer's statistics are exact up to 2^53."""


class Statistics(NamedTuple):
    """What a tensor holds; see `record.OpValues` for each."""

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
    histogram: tuple[int, ...]

    @property
    def finite(self) -> int:
        """How many elements are neither NaN nor infinite."""
        return self.numel - self.nans - self.infs


EMPTY = Statistics(0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, (0,) * BINS)


def statistics_of(value: torch.Tensor) -> Statistics:
    """The statistics of a tensor on any device; it stays as it is."""
    plain = _plain(value.detach())
    if plain.numel() == 0:
        return EMPTY
    if plain.numel() > AT_ONCE:
        return _of_parts(plain)
    exact = plain if plain.dtype in (torch.float32, torch.float64) else _widened(plain)
    low, high = _ends(exact)
    if math.isfinite(low) and math.isfinite(high):
        return _of_finite(exact, low, high)._replace(saturated=_saturated(plain, low, high))
    finite = torch.isfinite(exact)
    nans, wrong = int(exact.isnan().sum()), int((~finite).sum())
    kept = exact[finite]
    if kept.numel() == 0:
        found = EMPTY
    else:
        low, high = (float(each) for each in torch.aminmax(kept))
        found = _of_finite(kept, low, high)._replace(saturated=_saturated(kept, low, high))
    infs = wrong - nans
    return found._replace(
        numel=plain.numel(), nans=nans, infs=infs, saturated=found.saturated + infs
    )


def parts_of(value: torch.Tensor) -> Iterator[torch.Tensor]:
    """Views of a tensor that have all its elements, and few enough each; at best itself."""
    if value.numel() <= AT_ONCE or value.layout is not torch.strided:
        yield value
        return
    longest = max(range(value.dim()), key=lambda axis: value.shape[axis])
    for part in value.chunk(2, longest):
        yield from parts_of(part)


def _of_parts(plain: torch.Tensor) -> Statistics:
    found = EMPTY
    for part in parts_of(plain):
        found = merged(found, statistics_of(part))
    places = torch.linspace(0, plain.numel() - 1, _SAMPLE, dtype=torch.float64).long()
    sample = plain[torch.unravel_index(places.to(plain.device), plain.shape)].double()
    kept = sample[torch.isfinite(sample)]
    if not kept.numel():
        return found
    return found._replace(histogram=_histogram(kept, found.minimum, found.maximum))


def merged(one: Statistics, other: Statistics) -> Statistics:
    """The statistics of the elements of two tensors together; the histogram is the second's."""
    if not one.finite or not other.finite:
        kept = one if one.finite else other
    else:
        count = one.finite + other.finite
        mean = (one.mean * one.finite + other.mean * other.finite) / count
        square = sum(each.finite * (each.std**2 + (each.mean - mean) ** 2) for each in (one, other))
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
    if value.layout is not torch.strided:
        value = value.to_dense()
    if value.is_quantized:
        value = value.int_repr()
    return value.abs() if value.is_complex() else value


def _widened(plain: torch.Tensor) -> torch.Tensor:
    if plain.is_floating_point():
        return plain.to(torch.float32)
    return plain.to("cpu", _OF_INTEGERS) if plain.device.type == "mps" else plain.to(_OF_INTEGERS)


def _of_finite(exact: torch.Tensor, low: float, high: float) -> Statistics:
    count = exact.numel()
    mean = float(exact.mean())
    norm = float(torch.linalg.vector_norm(exact))
    if not math.isfinite(norm) or not math.isfinite(mean) or (norm == 0 and (low or high)):
        exact = exact.double()
        mean, norm = float(exact.mean()), float(torch.linalg.vector_norm(exact))
    square = norm * norm / count
    variance = square - mean * mean
    if variance < _CANCELLED * square:
        variance = float(exact.std(correction=0)) ** 2 if count > 1 else 0.0
    return Statistics(
        numel=count,
        nans=0,
        infs=0,
        zeros=_zeros(exact) if low <= 0 <= high else 0,
        minimum=low,
        maximum=high,
        mean=mean,
        std=math.sqrt(variance),
        norm=norm,
        saturated=0,
        histogram=_histogram(exact, low, high),
    )


def _saturated(plain: torch.Tensor, low: float, high: float) -> int:
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


def _ends(exact: torch.Tensor) -> tuple[float, float]:
    """Least and greatest; NaN if one is. On a CPU numpy takes a third of torch's time."""
    if exact.device.type != "cpu":
        low, high = torch.aminmax(exact)
        return float(low), float(high)
    array = exact.numpy()
    return float(array.min()), float(array.max())


def _zeros(exact: torch.Tensor) -> int:
    if exact.device.type != "cpu":
        return exact.numel() - int(torch.count_nonzero(exact))
    return int(np.count_nonzero(exact.numpy() == 0))


def _histogram(exact: torch.Tensor, low: float, high: float) -> tuple[int, ...]:
    if low == high:
        return (0,) * (BINS // 2) + (100,) + (0,) * (BINS - BINS // 2 - 1)
    flat = exact.reshape(-1)
    sample = flat[:: max(flat.numel() // _SAMPLE, 1)].cpu().numpy().astype(np.float64)
    places = (sample / (high / 2 - low / 2) - low / (high / 2 - low / 2)) * (BINS / 2)
    counts = np.bincount(np.clip(places, 0, BINS - 1).astype(np.int64), minlength=BINS)
    shares = np.maximum(np.rint(counts * (100 / len(sample))), counts > 0)
    return tuple(shares.astype(np.int64).tolist())
