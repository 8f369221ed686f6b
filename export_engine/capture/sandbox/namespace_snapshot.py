"""Restores what the user's functions can reach: globals, closures, class attributes.

A model may append to a list of its file or count in a global. While traced, that would count a call
that never happened, and leave fake tensors there. Only the user's own files are covered; a
library's own caches are not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CellType, FunctionType
from typing import Any

import torch

from export_engine.capture.sandbox.bytecode_writes import Slot, Writes, writes_of
from export_engine.capture.sandbox.object_snapshot import contents
from export_engine.capture.sandbox.real_type import is_of, package_of
from export_engine.capture.sandbox.restored_attributes import held_in, refill, same_items
from export_engine.capture.sandbox.side_effects import (
    describe_container_change,
    find_rebinding,
    is_leak,
    missing,
)
from export_engine.source import closure_of, function_behind, has_own_methods, is_own, names_in
from export_engine.torch_internals import Depends
from export_engine.trace import Change

_MOST_FUNCTIONS = 2000


class Surroundings:
    """A snapshot of what a model's functions can reach."""

    def __init__(self, target: Callable[..., Any], module: torch.nn.Module) -> None:
        """Takes the snapshot.

        Args:
            target: what is called.
            module: the same, as a module.
        """
        self._functions = list(_functions(target, module))
        self._kept: list[tuple[Slot, Any, Any]] = []
        for slot in _slots(module, self._functions):
            value = slot.read()
            self._kept.append((slot, value, held_in(value)))

    @property
    def values(self) -> list[Any]:
        """The functions, and the values of the names; for a container kept here, its items."""
        result: list[Any] = [*self._functions]
        for _, value, held in self._kept:
            result.extend([value] if held is None else contents(held) or ())
        return result

    def restore(self, depends: Depends | None = None) -> list[Change]:
        """Restores what the model's code changed, and returns the changes.

        Args:
            depends: what tells of a traced value whether it depends on values of inputs.

        Another thread may have set a name meanwhile, so a change is undone only if the model's code
        can have made it or it holds a value from the trace. If both set a name, the other thread's
        value is lost.
        """
        seen: list[Change | None] = []
        for slot, value, held in self._kept:
            now = slot.read()
            if now is not value and (is_leak(now) or self._writes.can_set(slot)):
                slot.write(value)
                seen.append(find_rebinding(slot.owner, slot.name, value, now, slot.where, depends))
            if held is None or same_items(value, held):
                continue
            if self._writes.containers or is_leak(value):
                seen.append(
                    describe_container_change(
                        slot.owner, slot.name, held, value, slot.where, depends
                    )
                )
                refill(value, held)
        return [change for change in seen if change is not None]

    @functools.cached_property
    def _writes(self) -> Writes:
        return writes_of([function.__code__ for function in self._functions])


def _slots(module: torch.nn.Module, functions: list[FunctionType]) -> Iterator[Slot]:
    """Every name that the functions use, once."""
    pairs: set[tuple[int, str]] = set()
    for cls in {type(submodule) for submodule in module.modules()}:
        for base in cls.__mro__:
            if package_of(base) not in ("torch", "builtins") and has_own_methods(base):
                yield from _of_class(base)
    for function in functions:
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=False
        ):
            if (id(cell), name) not in pairs:
                pairs.add((id(cell), name))
                yield _of_cell(name, cell, function)
        for name in names_in(function.__code__):
            key = (id(function.__globals__), name)
            if key not in pairs and name not in _builtins(function):
                pairs.add(key)
                yield _of_global(name, function)


def _of_class(cls: type) -> Iterator[Slot]:
    for name, value in list(vars(cls).items()):
        if name.startswith("__") or callable(value) or isinstance(value, _DESCRIPTORS):
            continue
        yield Slot(
            "class attribute",
            f"{cls.__name__}.{name}",
            cls.__qualname__,
            lambda name=name: vars(cls).get(name, missing()),  # type: ignore[misc]
            lambda value, name=name: _set_class(cls, name, value),  # type: ignore[misc]
        )


_DESCRIPTORS = (property, classmethod, staticmethod)


def _set_class(cls: type, name: str, value: Any) -> None:
    if value is missing():
        delattr(cls, name)
    else:
        setattr(cls, name, value)


def _of_cell(name: str, cell: CellType, function: FunctionType) -> Slot:
    def read() -> Any:
        try:
            return cell.cell_contents
        except ValueError:  # not assigned yet
            return missing()

    def write(value: Any) -> None:
        if value is missing():
            del cell.cell_contents
        else:
            cell.cell_contents = value

    return Slot("closure", name, function.__code__.co_filename, read, write)


def _of_global(name: str, function: FunctionType) -> Slot:
    space = function.__globals__

    def write(value: Any) -> None:
        if value is missing():
            space.pop(name, None)
        else:
            space[name] = value

    return Slot(
        "global",
        name,
        function.__code__.co_filename,
        lambda: space.get(name, missing()),
        write,
    )


def _functions(target: Callable[..., Any], module: torch.nn.Module) -> Iterator[FunctionType]:
    """The user's functions that a call may run: methods, and functions reached by name."""
    waiting: list[Any] = [target]
    if is_of(target, functools.partial):
        waiting.append(target.func)  # type: ignore[attr-defined]
    for cls in {type(submodule) for submodule in module.modules()}:
        waiting += [value for base in cls.__mro__ for value in vars(base).values()]
    waiting += [value for submodule in module.modules() for value in vars(submodule).values()]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_FUNCTIONS:
        function = function_behind(waiting.pop())
        if function is None or id(function) in seen:
            continue
        seen.add(id(function))
        if not is_own(function.__code__.co_filename):
            continue
        yield function
        waiting += [function.__globals__.get(name) for name in names_in(function.__code__)]
        waiting += [value for _, value in closure_of(function)]


def _builtins(function: FunctionType) -> Any:
    result = function.__globals__.get("__builtins__", {})
    names = result if isinstance(result, dict) else vars(result)
    return {name for name in names if name not in function.__globals__}
