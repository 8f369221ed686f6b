"""Which of the user's functions a call may run; what only `__init__` reads belongs to the model.

Follows names from `forward` of each module, or from a target function, to functions, methods and
properties of those names. It runs nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch

from export_engine.attempt import Exported, as_module
from export_engine.source import (
    closure_of,
    function_behind,
    globals_in,
    has_own_methods,
    is_own,
    names_in,
)
from export_engine.torch_internals import forward_hooks

_MOST = 2000
_MADE_ONCE = ("__init__", "__new__", "__init_subclass__", "__post_init__", "__setstate__")
Reached = frozenset[tuple[str, int]]
"""Functions by their file and their first line, that of a decorator if there is one."""


def find_reached_code(exported: Exported) -> Reached:
    """The user's functions that the model may run when it is called; none for a file's program."""
    if exported.request is None:
        return frozenset()
    return frozenset(
        (reached_function.__code__.co_filename, reached_function.__code__.co_firstlineno)
        for reached_function in find_reached_functions(exported.request.target)
    )


def in_eval_mode(exported: Exported) -> bool:
    """Whether all modules of the model were in eval mode when it was exported."""
    request = exported.request
    if request is None:
        return False
    return request.eval_mode or not any(
        module.training for module in as_module(request.target).modules()
    )


def find_reached_functions(target: Callable[..., Any]) -> Iterator[FunctionType]:
    """The user's functions that a model, or a function, may run when it is called."""
    module = as_module(target)
    classes = dict.fromkeys(type(item) for item in module.modules())
    waiting: list[Any] = [target, getattr(target, "func", None)]
    waiting += [inspect.getattr_static(cls, "forward", None) for cls in classes]
    for other_module in module.modules():
        waiting += forward_hooks(other_module)
    seen: set[CodeType] = set()
    while waiting and len(seen) < _MOST:
        function = function_behind(waiting.pop())
        if function is None or function.__code__ in seen:
            continue
        seen.add(function.__code__)
        if not is_own(function.__code__.co_filename):
            continue
        yield function
        names = set(names_in(function.__code__))
        values = [function.__globals__.get(name) for name in set(globals_in(function.__code__))]
        values += [value for _, value in closure_of(function)]
        for value in [*values, *(_attributes(module, names))]:
            if isinstance(value, ModuleType):
                waiting += [vars(value).get(name) for name in names]
            elif function_behind(value) is not None:
                waiting.append(value)
            elif value is not None:
                cls = value if isinstance(value, type) else type(value)
                if has_own_methods(cls):
                    classes.setdefault(cls)
        for cls in classes:
            waiting += [
                _static(cls, name) for name in {*names, "__call__"} if name not in _MADE_ONCE
            ]


def _static(cls: type, name: str) -> Any:
    return inspect.getattr_static(cls, name, None)


def _attributes(module: torch.nn.Module, names: set[str]) -> Iterator[Any]:
    """Plain attributes of modules with these names: helper objects of a model."""
    for other_module in module.modules():
        held = vars(other_module)
        yield from (held[name] for name in names if name in held)
