"""Tensors, beyond what they hold."""

from __future__ import annotations

from itertools import count
from typing import Any

import torch

from export_engine.torch_internals import capabilities as torch_has

_UNKNOWN = count(1)


def times_written(tensor: torch.Tensor) -> int:
    """How often a tensor was written to, as autograd counts it; a view counts with its base.

    Some kernels write and count nothing, such as batch norm's to its running statistics. A tensor
    made in inference mode is not counted: 0. Where torch does not tell, each answer is another, so
    that it counts as written to.
    """
    if tensor.is_inference():
        return 0
    return int(torch_has.VERSION.of(tensor)) if torch_has.VERSION else -next(_UNKNOWN)


def set_times_written(tensor: torch.Tensor, times: int) -> None:
    """Sets that count, so that what autograd saved of the tensor is as good as before.

    Where this torch cannot, the count stays higher than it was.
    """
    setting = getattr(torch._C._autograd, "_unsafe_set_version_counter", None)
    if setting is not None and times >= 0:
        setting((tensor,), (times,))


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
