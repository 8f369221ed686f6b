"""How fast a device computes and moves data, measured: the two limits of its roofline."""

from __future__ import annotations

import torch

from export_engine.run.measure import time_call

_SIDE = 1024
"""The size of the matrices that are multiplied."""
_ELEMENTS = 2**24
"""Elements of the tensor that is copied: 64 MB, more than a cache holds."""
_TRIES = 5


def measure_speed(device: str) -> tuple[float, float]:
    """FLOPs and bytes a second: of a product of float32 matrices, and of a copy; the best of five.

    Args:
        device: `cpu`, `cuda:0`.
    """
    matrix = torch.ones(_SIDE, _SIDE, device=device)
    source = torch.ones(_ELEMENTS, device=device)
    target = torch.empty_like(source)
    multiply = min(time_call(lambda: matrix @ matrix, device)[1] for _ in range(_TRIES))
    copy = min(time_call(lambda: target.copy_(source), device)[1] for _ in range(_TRIES))
    return 2 * _SIDE**3 / multiply, 2 * source.nbytes / copy
