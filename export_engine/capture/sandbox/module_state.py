"""Keeps a module as it was while its code runs: attributes and what containers hold; its tensors.

A model may set attributes, append to lists and write to buffers in `forward`. While it is traced,
what it keeps so are torch's stand-ins for values, of no use to anyone afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from export_engine.capture.sandbox.side_effects import missing, rebound, refilled
from export_engine.process import undone
from export_engine.torch_internals import times_written
from export_engine.trace import Change

_MOST_COPIED = 2**31
"""Bytes."""


Look = Callable[[], list[Change]]
"""Says what has changed so far."""


@undone
def attributes_kept(module: torch.nn.Module) -> Iterator[Look]:
    """Undoes what code inside does to the attributes of a module and of those in it."""
    look, restore = _attributes_of(module)
    try:
        yield look
    finally:
        restore()


@undone
def in_eval_mode(module: torch.nn.Module, wanted: bool) -> Iterator[None]:
    """A module in eval mode, if that is wanted, and then as it was, each of its parts."""
    modes = [(each, each.training) for each in module.modules()] if wanted else []
    if wanted:
        module.eval()
    try:
        yield
    finally:
        for each, mode in modes:
            each.training = mode


@undone
def module_kept(module: torch.nn.Module) -> Iterator[Callable[[], None]]:
    """Undoes what code inside does to a module, its tensors included; gives what undoes it before.

    The tensors are copied once; one that was not written to costs nothing more. Parameters, which a
    call hardly ever writes to, are left out where their copies would fill the memory.
    """
    parameters = list(module.parameters())
    small = sum(each.numel() * each.element_size() for each in parameters) <= _MOST_COPIED
    tensors = [*(parameters if small else ()), *module.buffers()]
    values = [tensor.detach().clone() for tensor in tensors]
    versions = [times_written(tensor) for tensor in tensors]
    _, restore_attributes = _attributes_of(module)

    def restore() -> None:
        restore_attributes()
        with torch.no_grad():
            for number, tensor in enumerate(tensors):
                if times_written(tensor) != versions[number]:
                    tensor.copy_(values[number])
                    versions[number] = times_written(tensor)

    try:
        yield restore
    finally:
        restore()


def _attributes_of(module: torch.nn.Module) -> tuple[Look, Callable[[], None]]:
    """What says how the attributes differ from now, and what puts them back."""
    kept = []
    for path, each in module.named_modules():
        attributes = vars(each)
        before = {name: (value, held_in(value)) for name, value in attributes.items()}
        kept.append((path, each, attributes, before))

    def look() -> list[Change]:
        changes: list[Change | None] = []
        for path, each, attributes, before in kept:
            where = type(each).__qualname__
            changes += _rebound(path, attributes, before, where)
            for name, (value, held) in before.items():
                if held is not None and name not in _OWN and not same_items(value, held):
                    called = f"{path}.{name}" if path else name
                    changes.append(refilled("attribute", called, held, value, where))
        return [change for change in changes if change is not None]

    def restore() -> None:
        for _, _, attributes, before in kept:
            if attributes.keys() != before.keys() or any(
                attributes[name] is not value for name, (value, _) in before.items()
            ):
                attributes.clear()
                attributes.update({name: value for name, (value, _) in before.items()})
            for value, held in before.values():
                if held is not None and not same_items(value, held):
                    refill(value, held)

    return look, restore


_OWN = frozenset(vars(torch.nn.Module()))
"""Attributes of nn.Module itself; `_buffers` and such hold what has a name of its own."""


def _rebound(
    path: str, attributes: Mapping[str, Any], before: Mapping[str, Any], where: str
) -> list[Change | None]:
    return [
        rebound(
            "attribute",
            f"{path}.{name}" if path else name,
            before[name][0] if name in before else missing(),
            attributes.get(name, missing()),
            where,
        )
        for name in {**before, **attributes}
        if name not in _OWN
    ]


def held_in(value: Any) -> Any:
    """A copy of a plain container, None for anything else; other classes may do anything then."""
    return value.copy() if type(value) in (dict, list, set) else None


def same_items(value: Any, held: Any) -> bool:
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


def refill(value: Any, held: Any) -> None:
    """Gives a container its items back."""
    value.clear()
    if isinstance(value, list):
        value.extend(held)
    else:
        value.update(held)
