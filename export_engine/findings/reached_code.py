"""Which of the user's functions a call may run; what only `__init__` reads belongs to the model.

Follows names from `forward` of each module, or from a target function, to functions, methods and
properties of those names. It runs nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

from export_engine.attempt import Exported, as_module
from export_engine.source import is_own
from export_engine.torch_internals import forward_hooks

_MOST = 2000
_MADE_ONCE = ("__init__", "__new__", "__init_subclass__", "__post_init__", "__setstate__")
Reached = frozenset[tuple[str, int]]
"""Functions by their file and their first line, that of a decorator if there is one."""


def reached_code(exported: Exported) -> Reached:
    """The user's functions that the model may run when it is called; none for a file's program."""
    if exported.request is None:
        return frozenset()
    return frozenset(_walk(exported.request.target))


def _walk(target: Callable[..., Any]) -> Iterator[tuple[str, int]]:
    module = as_module(target)
    classes = dict.fromkeys(type(each) for each in module.modules())
    waiting: list[Any] = [target, getattr(target, "func", None)]
    waiting += [inspect.getattr_static(cls, "forward", None) for cls in classes]
    for each in module.modules():
        waiting += forward_hooks(each)
    seen: set[CodeType] = set()
    while waiting and len(seen) < _MOST:
        function = _function(waiting.pop())
        if function is None or function.__code__ in seen:
            continue
        seen.add(function.__code__)
        if not is_own(function.__code__.co_filename):
            continue
        yield function.__code__.co_filename, function.__code__.co_firstlineno
        names = set(_names(function.__code__))
        values = [function.__globals__.get(name) for name in names]
        values += [*_held(function)]
        for value in [*values, *(_attributes(module, names))]:
            if isinstance(value, ModuleType):
                waiting += [vars(value).get(name) for name in names]
            elif _function(value) is not None:
                waiting.append(value)
            elif value is not None and _is_own(cls := value if _is_class(value) else type(value)):
                classes.setdefault(cls)
        for cls in classes:
            waiting += [
                _static(cls, name) for name in {*names, "__call__"} if name not in _MADE_ONCE
            ]


def _is_class(value: Any) -> bool:
    return isinstance(value, type)


def _is_own(cls: type) -> bool:
    methods = (value for value in vars(cls).values() if isinstance(value, FunctionType))
    return any(is_own(each.__code__.co_filename) for each in methods)


def _function(value: Any) -> FunctionType | None:
    """The function behind a method, a property or a decorated one."""
    if isinstance(value, property):
        value = value.fget
    if isinstance(value, MethodType | staticmethod | classmethod):
        value = value.__func__
    inner = inspect.unwrap(value) if isinstance(value, FunctionType) else value
    return inner if isinstance(inner, FunctionType) else None


def _static(cls: type, name: str) -> Any:
    return inspect.getattr_static(cls, name, None)


def _attributes(module: torch.nn.Module, names: set[str]) -> Iterator[Any]:
    """Plain attributes of modules with these names: helper objects of a model."""
    for each in module.modules():
        held = vars(each)
        yield from (held[name] for name in names if name in held)


def _held(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
