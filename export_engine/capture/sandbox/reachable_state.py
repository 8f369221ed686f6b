"""Keeps what the user's functions can reach as it was: globals, closures, attributes of classes.

A model may append to a list of its file or count in a global. While it is traced, that would count
a call that never happened, and put torch's stand-ins for tensors there. Only the user's own files
are looked after: a library's memory of its own is none of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

import torch

from export_engine.capture.sandbox.module_state import held_in, refill, same_items
from export_engine.capture.sandbox.side_effects import missing, rebound, refilled
from export_engine.process import undone
from export_engine.source import is_own
from export_engine.trace import Change, Owner

_MOST_FUNCTIONS = 2000


class _Slot(NamedTuple):
    """A place that holds a value, and how to put one there."""

    owner: Owner
    name: str
    where: str
    read: Callable[[], Any]
    write: Callable[[Any], None]


@undone
def surroundings_kept(
    target: Callable[..., Any], module: torch.nn.Module, seen: list[Change]
) -> Iterator[None]:
    """Undoes what code inside does to what the functions of a model can reach.

    Args:
        target: what is called.
        module: the same, as a module.
        seen: takes what was undone.
    """
    kept = []
    for slot in _slots(target, module):
        value = slot.read()
        kept.append((slot, value, held_in(value)))
    try:
        yield
    finally:
        for slot, value, held in kept:
            now = slot.read()
            if now is not value:
                change = rebound(slot.owner, slot.name, value, now, slot.where)
                slot.write(value)
                seen.extend([change] if change else [])
            if held is not None and not same_items(value, held):
                seen.append(refilled(slot.owner, slot.name, held, value, slot.where))
                refill(value, held)


def _slots(target: Callable[..., Any], module: torch.nn.Module) -> Iterator[_Slot]:
    """Every name that the functions use, each once."""
    known: set[tuple[int, str]] = set()
    for cls in {type(each) for each in module.modules()}:
        for base in cls.__mro__:
            if base.__module__.partition(".")[0] not in ("torch", "builtins") and _is_own(base):
                yield from _of_class(base)
    for function in _functions(target, module):
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=False
        ):
            if (id(cell), name) not in known:
                known.add((id(cell), name))
                yield _of_cell(name, cell, function)
        for name in _names(function.__code__):
            key = (id(function.__globals__), name)
            if key not in known and name not in _builtins(function):
                known.add(key)
                yield _of_global(name, function)


def _of_class(cls: type) -> Iterator[_Slot]:
    for name, value in list(vars(cls).items()):
        if name.startswith("__") or callable(value) or isinstance(value, _DESCRIPTORS):
            continue
        yield _Slot(
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


def _of_cell(name: str, cell: CellType, function: FunctionType) -> _Slot:
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

    return _Slot("closure", name, function.__code__.co_filename, read, write)


def _of_global(name: str, function: FunctionType) -> _Slot:
    space = function.__globals__

    def write(value: Any) -> None:
        if value is missing():
            space.pop(name, None)
        else:
            space[name] = value

    return _Slot(
        "global",
        name,
        function.__code__.co_filename,
        lambda: space.get(name, missing()),
        write,
    )


def _functions(target: Callable[..., Any], module: torch.nn.Module) -> Iterator[FunctionType]:
    """The user's functions that a call may run: methods, and functions reached by name."""
    waiting: list[Any] = [target, getattr(target, "func", None)]
    for cls in {type(each) for each in module.modules()}:
        waiting += [value for base in cls.__mro__ for value in vars(base).values()]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_FUNCTIONS:
        each = waiting.pop()
        function = each.__func__ if isinstance(each, MethodType | staticmethod) else each
        function = getattr(function, "__wrapped__", function) if callable(function) else function
        if not isinstance(function, FunctionType) or id(function) in seen:
            continue
        seen.add(id(function))
        if not is_own(function.__code__.co_filename):
            continue
        yield function
        waiting += [function.__globals__.get(name) for name in _names(function.__code__)]
        for cell in function.__closure__ or ():
            try:
                waiting.append(cell.cell_contents)
            except ValueError:
                continue


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _builtins(function: FunctionType) -> Any:
    found = function.__globals__.get("__builtins__", {})
    names = found if isinstance(found, dict) else vars(found)
    return {name for name in names if name not in function.__globals__}


def _is_own(cls: type) -> bool:
    methods = (value for value in vars(cls).values() if isinstance(value, FunctionType))
    return any(is_own(each.__code__.co_filename) for each in methods)
