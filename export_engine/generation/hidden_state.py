"""Tensors that a model keeps in attributes of its modules from call to call.

A recurrent model may keep its state there, and another its cache. A program has none of it: an
attribute that is not a buffer is a constant of the trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from export_engine.listing import join_names

_OWN = frozenset({"_parameters", "_buffers", "_modules"})


def find_hidden_tensors(model: torch.nn.Module) -> dict[str, tuple[torch.Tensor, ...]]:
    """The tensors in plain attributes of modules, by name: `layers.0.state`."""
    return {
        f"{path}.{name}" if path else name: tensors
        for path, module in model.named_modules()
        for name, value in vars(module).items()
        if name not in _OWN and (tensors := tuple(_tensors(value)))
    }


def find_changed_tensors(
    before: Mapping[str, tuple[torch.Tensor, ...]], after: Mapping[str, tuple[torch.Tensor, ...]]
) -> tuple[str, ...]:
    """Names whose tensors are others than before."""
    return tuple(
        name
        for name, tensors in after.items()
        if list(map(id, tensors)) != list(map(id, before.get(name, ())))
    )


def describe_hidden_state(component: str, names: tuple[str, ...]) -> str:
    """The problem of calls that keep tensors in attributes."""
    return (
        f"Calls of `{component}` keep tensors in attributes of modules: {join_names(names)}. No "
        "program has them, so a later call starts without them. Pass them as inputs and return "
        "them, or register them as buffers."
    )


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif type(value) in (list, tuple):
        for item in value:
            yield from _tensors(item)
    elif type(value) is dict:
        for each in value.values():
            yield from _tensors(each)
