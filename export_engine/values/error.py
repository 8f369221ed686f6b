"""How far a tensor is from the one that it should be, and what counts as float noise."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from export_engine.torch_internals import to_strided
from export_engine.values.statistics import IN_CACHE, parts_of


class Error(NamedTuple):
    """A tensor against a reference of the same shape, where both are finite."""

    absolute: float
    """Largest absolute difference."""
    relative: float
    """Norm of the difference over the norm of the reference."""
    peak: float
    """Largest absolute difference over the reference's root mean square."""
    cosine: float
    """The cosine of the angle between the two; 1 for two zeros."""
    sqnr: float
    """Signal to noise in dB: -20 log10(relative). 200 where they are equal."""
    odd: int
    """Elements that are finite in one only."""
    differing: float
    """Share of elements that differ at all."""


EQUAL = Error(0.0, 0.0, 0.0, 1.0, 200.0, 0, 0.0)
_HUGE = 0.5
"""Share of a dtype's largest number from which an element is a mask's, and not compared: in another
dtype it may be infinite.
"""


def error_of(value: torch.Tensor, reference: torch.Tensor) -> Error:
    """The error of a tensor of the reference's shape; on any device, in any dtype."""
    if value.numel() == 0 or _is_equal(value, reference):
        return EQUAL
    sums = _Sums(_limit(value), _limit(reference))
    dense = map(to_strided, (value, reference))
    for one, other in zip(*(parts_of(tensor, IN_CACHE) for tensor in dense), strict=True):
        sums.add(_wide(one), _wide(other))
    return sums.error()


def _is_equal(value: torch.Tensor, reference: torch.Tensor) -> bool:
    """Whether two tensors are so plainly equal that it takes one pass to see it."""
    alike = (value.dtype, value.device) == (reference.dtype, reference.device)
    strided = value.layout is reference.layout is torch.strided
    return alike and strided and not value.is_quantized and torch.equal(value, reference)


class _Sums:
    """The terms of an error, for a part of a tensor."""

    def __init__(self, most: float, most_of_other: float) -> None:
        self._most, self._most_of_other = most, most_of_other
        self._noise = self._signal = self._size = self._product = self._absolute = 0.0
        self._odd = self._differing = self._count = 0

    def add(self, one: torch.Tensor, other: torch.Tensor) -> None:
        """Adds a part, in float64 on the CPU, of one axis."""
        largest = [float(torch.linalg.vector_norm(tensor, math.inf)) for tensor in (one, other)]
        if not (largest[0] < self._most * _HUGE and largest[1] < self._most_of_other * _HUGE):
            one, other = self._select_elements(one, other)
        if not one.numel():
            return
        difference = one - other
        self._count += one.numel()
        self._signal += float(other.dot(other))
        self._size += float(one.dot(one))
        self._noise += float(difference.dot(difference))
        self._product += float(one.dot(other))
        self._absolute = max(self._absolute, float(torch.linalg.vector_norm(difference, math.inf)))
        self._differing += int(torch.count_nonzero(difference))

    def _select_elements(
        self, one: torch.Tensor, other: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The elements that are compared: neither NaN nor a mask's."""
        masks = torch.isnan(other) | (other.abs() >= self._most_of_other * _HUGE)
        large = one.isinf() | ((one.abs() >= self._most * _HUGE) & masks)
        ends = [torch.isnan(one) | large, masks]
        self._odd += int((ends[0] != ends[1]).sum())
        odd = (torch.isnan(one) != torch.isnan(other)).logical_and(ends[0] & ends[1])
        self._odd += int(odd.sum())
        kept = ~(ends[0] | ends[1])
        return one[kept], other[kept]

    def error(self) -> Error:
        if not self._noise:
            return EQUAL._replace(odd=self._odd)
        noise, signal = math.sqrt(self._noise), math.sqrt(self._signal)
        level = signal / math.sqrt(self._count)
        size = math.sqrt(self._size) * signal
        relative = noise / signal if signal else math.inf
        return Error(
            absolute=self._absolute,
            relative=relative,
            peak=self._absolute / level if level else math.inf,
            cosine=self._product / size if size else 0.0,
            sqnr=-20 * math.log10(relative) if math.isfinite(relative) else -200.0,
            odd=self._odd,
            differing=self._differing / self._count,
        )


class Noise(NamedTuple):
    """An op's tolerance, in units of the coarser dtype's epsilon."""

    relative: float
    peak: float
    differing: float
    """Share of elements, where they are integers or booleans."""


SAME_KERNEL = Noise(8.0, 128.0, 0.0)
"""The same op on the same values: nothing but the order of sums in another memory layout."""
OTHER_KERNEL = Noise(128.0, 8192.0, 0.002)
"""Another way to compute the same: a decomposition, a device, a backend."""
ROUNDED = Noise(3.0, 64.0, 0.05)
"""The same op in a dtype of fewer bits: inputs and result are rounded."""
QUANTIZED = Noise(0.0, math.inf, 0.5)
"""An op on quantized values: rounding to steps costs something; see `QUANTIZED_MOST`."""
QUANTIZED_MOST = 0.5
"""Relative error of one quantized op that no choice of steps explains."""


def grow_noise(noise: Noise, turns: float) -> Noise:
    """Noise of a value that went through so many turns of a loop."""
    if noise is QUANTIZED or turns <= 1:
        return noise
    return Noise(noise.relative * turns, noise.peak * turns, min(noise.differing * turns, 1.0))


def is_beyond(error: Error, noise: Noise, value: torch.Tensor, reference: torch.Tensor) -> bool:
    """Whether an error is more than noise."""
    if error.odd:
        return True
    if not (value.is_floating_point() or value.is_complex()):
        return error.differing > noise.differing
    if noise is QUANTIZED:
        return error.relative > QUANTIZED_MOST
    eps = max(epsilon(value), epsilon(reference))
    return error.relative > noise.relative * eps or error.peak > noise.peak * eps


def is_rounding(error: Error, moved: Error, noise: Noise) -> bool:
    """Whether an op is off by no more than it moves when its inputs are rounded.

    Args:
        error: of the op.
        moved: how far its value moves then.
        noise: what an op may be off by.
    """
    most = noise.relative
    return error.relative <= most * moved.relative and error.peak <= 4 * most * moved.peak


def epsilon(value: torch.Tensor) -> float:
    """Of its dtype; 0 for integers."""
    inexact = value.is_floating_point() or value.is_complex()
    return torch.finfo(value.dtype).eps if inexact else 0.0


def _limit(value: torch.Tensor) -> float:
    inexact = value.is_floating_point() or value.is_complex()
    return torch.finfo(value.dtype).max if inexact else math.inf


def _wide(value: torch.Tensor) -> torch.Tensor:
    value = value.detach()
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    return value.cpu().double().reshape(-1)
