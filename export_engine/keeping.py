"""Keeps a module as it was while its code runs: attributes and what containers hold; its tensors.

A model may set attributes, append to lists and write to buffers in `forward`. While it is traced,
what it keeps so are torch's stand-ins for values, of no use to anyone afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

_MOST_COPIED = 2**31
"""Bytes."""


@contextmanager
def attributes_kept(module: torch.nn.Module) -> Iterator[None]:
    """Undoes what code inside does to the attributes of a module and of those in it."""
    restore = _attributes_of(module)
    try:
        yield
    finally:
        restore()


@contextmanager
def module_kept(module: torch.nn.Module) -> Iterator[Callable[[], None]]:
    """Undoes what code inside does to a module, its tensors included; gives what undoes it before.

    The tensors are copied once; one that was not written to costs nothing more. Parameters, which a
    call hardly ever writes to, are left out where their copies would fill the memory.
    """
    parameters = list(module.parameters())
    small = sum(each.numel() * each.element_size() for each in parameters) <= _MOST_COPIED
    tensors = [*(parameters if small else ()), *module.buffers()]
    values = [tensor.detach().clone() for tensor in tensors]
    versions = [tensor._version for tensor in tensors]
    restore_attributes = _attributes_of(module)

    def restore() -> None:
        restore_attributes()
        with torch.no_grad():
            for number, tensor in enumerate(tensors):
                if tensor._version != versions[number]:
                    tensor.copy_(values[number])
                    versions[number] = tensor._version

    try:
        yield restore
    finally:
        restore()


def _attributes_of(module: torch.nn.Module) -> Callable[[], None]:
    """What puts the attributes back as they are now."""
    kept = [
        (vars(each), {name: (value, _copy(value)) for name, value in vars(each).items()})
        for each in module.modules()
    ]

    def restore() -> None:
        for attributes, before in kept:
            if attributes.keys() != before.keys() or any(
                attributes[name] is not value for name, (value, _) in before.items()
            ):
                attributes.clear()
                attributes.update({name: value for name, (value, _) in before.items()})
            for value, held in before.values():
                if held is not None and not _same(value, held):
                    _refill(value, held)

    return restore


def _copy(value: Any) -> Any:
    """What a plain container holds; classes of its own kind may do anything when copied."""
    return value.copy() if type(value) in (dict, list, set) else None


def _same(value: Any, held: Any) -> bool:
    """Whether a container holds the very same things; `==` would compare tensors."""
    if len(value) != len(held):
        return False
    if isinstance(value, dict):
        return all(
            one is other and value[one] is held[other]
            for one, other in zip(value, held, strict=True)
        )
    if isinstance(value, set):
        return {id(each) for each in value} == {id(each) for each in held}
    return all(one is other for one, other in zip(value, held, strict=True))


def _refill(value: Any, held: Any) -> None:
    value.clear()
    if isinstance(value, list):
        value.extend(held)
    else:
        value.update(held)
