"""Tensors, beyond what they hold."""

from __future__ import annotations

import torch


def times_written(tensor: torch.Tensor) -> int:
    """How often a tensor was written to, as autograd counts it; a view counts with its base."""
    return tensor._version
