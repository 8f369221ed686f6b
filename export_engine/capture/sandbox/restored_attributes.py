"""Restores a module's attributes after tracing, and reports changes.

A model may set attributes, append to lists and write to buffers in `forward`. While traced, these
would keep fake tensors, useless afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from export_engine.capture.sandbox.bytecode_writes import names_set_by_torch
from export_engine.capture.sandbox.side_effects import (
    describe_container_change,
    find_rebinding,
    missing,
)
from export_engine.process import undone
from export_engine.trace import Change, Recording

Look = Callable[[], list[Change]]
"""Returns the changes so far."""


@undone
def attributes_kept(module: torch.nn.Module, record: Recording) -> Iterator[Look]:
    """Undoes what code inside does to the attributes of a module and of those in it.

    Args:
        module: the model.
        record: of the trace, which tells what new values were computed from.
    """
    look, restore = _attributes_of(module, record)
    try:
        yield look
    finally:
        restore()


def _attributes_of(module: torch.nn.Module, record: Recording) -> tuple[Look, Callable[[], None]]:
    """Two functions: one returns the changes from now on, the other restores the attributes."""
    kept = []
    for path, submodule in module.named_modules():
        attributes = vars(submodule)
        before = {name: (value, held_in(value)) for name, value in attributes.items()}
        kept.append((path, submodule, attributes, before))

    def look() -> list[Change]:
        changes: list[Change | None] = []
        for path, value, attributes, before in kept:
            where = type(value).__qualname__
            for name in {**before, **attributes}:
                old, held = before.get(name, (missing(), None))
                now = attributes.get(name, missing())
                if name in _OWN or (now is old and (held is None or same_items(now, held))):
                    continue
                if name in names_set_by_torch(value):
                    continue
                called = f"{path}.{name}" if path else name
                changes.append(
                    find_rebinding("attribute", called, old, now, where, record.depends)
                    if now is not old
                    else describe_container_change(
                        "attribute", called, held, now, where, record.depends
                    )
                )
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
"""Attributes of nn.Module itself; entries of `_buffers` and the like are handled by name."""


def held_in(value: Any) -> Any:
    """A copy of a plain container, None for anything else: copying other classes may run code."""
    return value.copy() if type(value) in (dict, list, set) else None


def same_items(value: Any, held: Any) -> bool:
    """Whether a container holds the identical objects; `==` would compare tensors."""
    if len(value) != len(held):
        return False
    if isinstance(value, dict):
        return all(
            one is other and value[one] is held[other]
            for one, other in zip(value, held, strict=True)
        )
    if isinstance(value, set):
        return {id(item) for item in value} == {id(item) for item in held}
    return all(one is other for one, other in zip(value, held, strict=True))


def refill(value: Any, held: Any) -> None:
    """Restores a container's items."""
    value.clear()
    if isinstance(value, list):
        value.extend(held)
    else:
        value.update(held)
