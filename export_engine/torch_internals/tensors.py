"""Private state of tensors."""

from __future__ import annotations

from itertools import count
from typing import Any

import torch

from export_engine.torch_internals import private_names as torch_has

_UNKNOWN = count(1)


def times_written(tensor: torch.Tensor) -> int:
    """A tensor's version counter; a view shares its base's.

    Some kernels do not bump it, such as batch norm's for its running statistics. It is 0 for
    inference tensors. If torch lacks it, every call returns a new number, so the tensor counts as
    mutated.
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


def to_strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same values with strides: few ops of torch take a sparse tensor, `torch.equal` not."""
    return tensor if tensor.layout is torch.strided else tensor.to_dense()


def is_fake(value: object) -> bool:
    """Whether a tensor is fake, also inside a torch.func wrapper.

    A mock says that it is a tensor and is not one: torch would crash on it.
    """
    if not issubclass(type(value), torch.Tensor):
        return False
    if torch_has.IS_FAKE:
        return bool(torch_has.IS_FAKE.value(value))
    return hasattr(value, "fake_mode")


def plain_tensors(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The tensors that a wrapper subclass is made of, in its own order; a plain one itself.

    A quantized weight is made of its integers, scales and zero points. Tensors in it of such a
    class are also unwrapped.
    """
    if not hasattr(type(tensor), "__tensor_flatten__"):
        return [tensor]
    names, _ = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
    inside = (getattr(tensor, name) for name in names)
    return [
        plain
        for value in inside
        if isinstance(value, torch.Tensor)
        for plain in plain_tensors(value)
    ]


def forward_hooks(module: torch.nn.Module) -> list[Any]:
    """A module's forward hooks, in no order; none if torch hides them."""
    before = torch_has.FORWARD_PRE_HOOKS.of(module, {})
    return [*torch_has.FORWARD_HOOKS.of(module, {}).values(), *before.values()]
