"""Tensors, beyond what they hold."""

from __future__ import annotations

from typing import Any

import torch


def times_written(tensor: torch.Tensor) -> int:
    """How often a tensor was written to, as autograd counts it; a view counts with its base."""
    return tensor._version


def is_fake(value: object) -> bool:
    """Whether a tensor is a stand-in without values, also inside a wrapper of torch.func's."""
    from torch._subclasses.fake_tensor import is_fake as fake

    return isinstance(value, torch.Tensor) and bool(fake(value))


def forward_hooks(module: torch.nn.Module) -> list[Any]:
    """What runs before and after a module's `forward`, in no order."""
    return [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
