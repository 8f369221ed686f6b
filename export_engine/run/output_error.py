"""How far a run's outputs are from eager's."""

from __future__ import annotations

import math
from typing import Any

import torch

from export_engine.record import RunError
from export_engine.torch_internals import pytree

_INTEGERS = {
    torch.float16: (torch.int16, 0x7FFF),
    torch.bfloat16: (torch.int16, 0x7FFF),
    torch.float32: (torch.int32, 0x7FFF_FFFF),
    torch.float64: (torch.int64, 0x7FFF_FFFF_FFFF_FFFF),
}
"""Per float dtype, the integers that have its bits, and the bits of the magnitude."""


def error_of(ours: Any, eager: Any) -> RunError | None:
    """The worst of all elements; None where one is infinite, or nothing can be compared."""
    absolute = relative = ulps = 0.0
    for one, other in zip(_tensors(ours), _tensors(eager), strict=False):
        if one.shape != other.shape or one.numel() == 0:
            continue
        wide = torch.complex128 if other.is_complex() else torch.float64
        first, second = one.to(wide), other.to(wide)
        off = torch.where(torch.isfinite(second), (first - second).abs(), 0.0)
        off = torch.where(first == second, 0.0, off)
        absolute = max(absolute, float(off.max()))
        size = second.abs()
        tensor = (size > 0) & torch.isfinite(size)
        if bool(tensor.any()):
            relative = max(relative, float((off[tensor] / size[tensor]).max()))
        ulps = max(ulps, _ulps(one, other))
    finite = all(map(math.isfinite, (absolute, relative, ulps)))
    return RunError(absolute, relative, ulps) if finite else None


def _ulps(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest number of representable floats between two."""
    if one.dtype != other.dtype or one.dtype not in _INTEGERS:
        return 0.0
    finite = torch.isfinite(one) & torch.isfinite(other)
    if not bool(finite.any()):
        return 0.0
    first, second = _rank_floats(one[finite]), _rank_floats(other[finite])
    return float((first - second).abs().max())


def _rank_floats(value: torch.Tensor) -> torch.Tensor:
    """Floats as their rank among all floats of their dtype, from 0 outwards."""
    kind, magnitude = _INTEGERS[value.dtype]
    bits = value.contiguous().view(kind).to(torch.int64)
    size = bits & magnitude
    return torch.where(bits < 0, -size, size)


def _tensors(result: Any) -> list[torch.Tensor]:
    leaves = (leaf for leaf in pytree.tree_leaves(result) if leaf is not None)
    return [
        torch.as_tensor(leaf, device="cpu").detach() if _counts(leaf) else _NOTHING
        for leaf in leaves
    ]


_NOTHING = torch.empty(0, device="cpu")


def _counts(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor | int | float)
