"""Facts about tensors that a program holds: their bytes, and the ends of scales."""

from __future__ import annotations

import math
from typing import Any

import torch

from export_engine.quantization import HeldTensor
from export_engine.torch_internals import LiveProgram, is_fake, plain_tensors


def held_bytes(value: Any) -> int:
    """Bytes of a tensor; of a tensor subclass made of others, theirs. 0 for anything else."""
    if not isinstance(value, torch.Tensor):
        return 0
    inside = [value] if is_fake(value) else plain_tensors(value)
    return sum(tensor.numel() * tensor.element_size() for tensor in inside)


def ends_of_held(program: LiveProgram | None) -> HeldTensor:
    """The least and the greatest element of tensors that a program holds.

    Args:
        program: without one, nothing is at hand.
    """

    def find_ends(place: str, inner: str) -> tuple[float, float] | None:
        if program is None:
            return None
        value = program.state_dict.get(place)
        value = program.constants.get(place) if value is None else value
        value = getattr(value, inner, None) if inner else value
        if not isinstance(value, torch.Tensor) or is_fake(value) or value.is_meta:
            return None
        if not value.numel() or value.is_complex():
            return None
        low, high = torch.aminmax(value.detach().to(torch.float64))
        ends = float(low), float(high)
        return ends if all(map(math.isfinite, ends)) else None

    return find_ends
