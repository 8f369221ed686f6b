"""Inputs in the form that runtimes outside of torch take."""

from __future__ import annotations

from typing import Any

import torch


def as_array(value: Any) -> Any:
    """A tensor or a number as numpy has it."""
    tensor = value if isinstance(value, torch.Tensor) else torch.tensor(value, device="cpu")
    return tensor.detach().cpu().contiguous().numpy()
