"""Tensors, beyond what they hold."""

from __future__ import annotations

from itertools import count
from typing import Any

import torch

from export_engine.torch_internals import capabilities as torch_has

_UNKNOWN = count(1)


def times_written(tensor: torch.Tensor) -> int:
    """How often a tensor was written to, as autograd counts it; a view counts with its base.

    Where torch does not tell, each answer is another, so that it counts as written to.
    """
    return int(torch_has.VERSION.of(tensor)) if torch_has.VERSION else -next(_UNKNOWN)


def is_fake(value: object) -> bool:
    """Whether a tensor is a stand-in without values, also inside a wrapper of torch.func's."""
    if not isinstance(value, torch.Tensor):
        return False
    if torch_has.IS_FAKE:
        return bool(torch_has.IS_FAKE.value(value))
    return hasattr(value, "fake_mode")


def forward_hooks(module: torch.nn.Module) -> list[Any]:
    """What runs before and after a module's `forward`, in no order; none where torch hides them."""
    before = torch_has.FORWARD_PRE_HOOKS.of(module, {})
    return [*torch_has.FORWARD_HOOKS.of(module, {}).values(), *before.values()]
