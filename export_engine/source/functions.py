"""References of a user's function: the names in its code, the values in its closure.

It calls nothing, and asks no object for an attribute that could run code.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType, MethodType
from typing import Any

from export_engine.source.file_owner import is_own

_CACHED = type(cache(len))
_MOST_WRAPPERS = 100


def function_behind(value: Any) -> FunctionType | None:
    """The function of a method, a property, or a wrapper that says what it wraps."""
    if issubclass(type(value), property):
        value = value.fget
    if issubclass(type(value), MethodType | staticmethod | classmethod):
        value = value.__func__
    for _ in range(_MOST_WRAPPERS):
        if not issubclass(type(value), FunctionType | _CACHED) or "__wrapped__" not in vars(value):
            break
        value = vars(value)["__wrapped__"]
    return value if type(value) is FunctionType else None


def names_in(code: CodeType) -> Iterator[str]:
    """The globals and attributes that code names, and those that functions in it do."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def globals_in(code: CodeType) -> Iterator[str]:
    """The globals alone, without attributes of the same name: `autocast` of `torch.autocast`."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from globals_in(constant)


def closure_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables of enclosing functions that it uses, but for those not assigned yet."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue


def has_own_methods(cls: type) -> bool:
    """Whether a class is the user's: a method of it is in a file of theirs."""
    methods = (value for value in vars(cls).values() if isinstance(value, FunctionType))
    return any(is_own(method.__code__.co_filename) for method in methods)
