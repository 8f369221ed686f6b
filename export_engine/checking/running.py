"""Runs the eager model and leaves it as it was: parameters, buffers, attributes, random numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from export_engine.quiet import quiet
from export_engine.request import Request
from export_engine.torch_internals import pytree


def run(called: Callable[..., Any], request: Request, seed: int) -> Any:
    """The result of a call on copies of the request's inputs, quietly and without gradients."""
    args, kwargs = pytree.tree_map(_copied, (request.args, dict(request.kwargs)))
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    with quiet(), torch.no_grad(), torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        return called(*args, **kwargs)


@contextmanager
def left_as_it_was(module: torch.nn.Module) -> Iterator[None]:
    """Undoes what calls do to a module: to its tensors, its attributes and its containers."""
    modules = list(module.modules())
    attributes = [
        {
            key: copy.copy(value) if isinstance(value, dict | list | set) else value
            for key, value in vars(each).items()
        }
        for each in modules
    ]
    tensors = [*module.parameters(), *module.buffers()]
    kept = [(tensor, tensor._version, tensor.detach().clone()) for tensor in tensors]
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, version, value in kept:
                if tensor._version != version:
                    tensor.copy_(value)
        for each, before in zip(modules, attributes, strict=True):
            vars(each).clear()
            vars(each).update(before)


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    return copy.deepcopy(value)
