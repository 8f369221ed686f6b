"""A call whose model has no weights: its copy is on the meta device, and takes no memory."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from export_engine.plain_errors import WrongArgument
from export_engine.torch_internals import pytree

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A callable, its positional and its keyword arguments."""


def copy_without_weights(
    target: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Call:
    """A call of a copy of a model on the meta device. The model itself is not changed.

    Args:
        target: a module, or a method of one.
        args: the call's positional arguments; tensors in them also become meta tensors.
        kwargs: its keyword arguments.

    Raises:
        WrongArgument: `target` is neither, or cannot be copied.
    """
    value = pytree.tree_map_only(torch.Tensor, _on_meta, (tuple(args), dict(kwargs)))
    owner = getattr(target, "__self__", target)
    if not isinstance(owner, torch.nn.Module):
        raise WrongArgument(
            "--without-weights copies a module. Call the module, or a method of it: model(x)."
        )
    module = _copy(owner)
    if owner is target:
        return module, *value
    return getattr(module, target.__name__), *value


def _copy(module: torch.nn.Module) -> torch.nn.Module:
    """A deep copy that shares tensors as the module does, without one of their values."""
    memo: dict[int, Any] = {id(tensor): _on_meta(tensor) for tensor in _tensors_of(module)}
    try:
        return copy.deepcopy(module, memo)
    except (TypeError, RuntimeError, AttributeError, NotImplementedError, ValueError) as error:
        raise WrongArgument(
            f"{type(module).__name__} cannot be copied: {error}. Make it on the meta device: "
            'with torch.device("meta"): model = ...'
        ) from error


def _tensors_of(module: torch.nn.Module) -> Iterator[torch.Tensor]:
    """Parameters, buffers and other tensors that its modules have as attributes."""
    for submodule in module.modules():
        for value in pytree.tree_leaves(vars(submodule)):
            if isinstance(value, torch.Tensor):
                yield value


def _on_meta(tensor: torch.Tensor) -> torch.Tensor:
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(_on_meta(tensor.data), tensor.requires_grad)
    with torch.no_grad():
        return torch.empty_strided(
            tensor.size(), tensor.stride(), dtype=tensor.dtype, device="meta"
        ).requires_grad_(tensor.requires_grad)
