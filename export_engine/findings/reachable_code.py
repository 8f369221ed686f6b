"""Which of the user's functions a call may run; what only `__init__` reads belongs to the model.

Follows names from `forward` of each module, or from a target function, to functions, methods and
properties of those names. It runs nothing.
"""

from __future__ import annotations

import ast
import dis
import inspect
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch

from export_engine.attempt import Exported, as_module
from export_engine.source import (
    closure_of,
    code_of,
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
    for submodule in module.modules():
        waiting += forward_hooks(submodule)
    seen: set[CodeType] = set()
    while waiting and len(seen) < _MOST:
        function = function_behind(waiting.pop())
        if function is None or function.__code__ in seen:
            continue
        seen.add(function.__code__)
        if not is_own(function.__code__.co_filename):
            continue
        yield function
        left_out = _find_names_left_out(function, module)
        names = set(names_in(function.__code__)) - left_out
        used = set(globals_in(function.__code__)) - left_out
        values = [function.__globals__.get(name) for name in used]
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


def _find_names_left_out(function: FunctionType, module: torch.nn.Module) -> set[str]:
    """The names of a function that it has only where a flag of the model lets nothing run."""
    code = code_of(function.__code__.co_filename)
    tree = code.by_first_line.get(function.__code__.co_firstlineno) if code is not None else None
    if tree is None or "self" not in function.__code__.co_varnames:
        return set()
    left_out: set[str] = set()
    running: set[str] = set()
    waiting: list[tuple[ast.AST, bool]] = [(tree, True)]
    while waiting:
        node, runs = waiting.pop()
        if isinstance(node, ast.Name | ast.Attribute):
            (running if runs else left_out).add(
                node.id if isinstance(node, ast.Name) else node.attr
            )
        idle = _find_idle_parts(node, module) if runs else ()
        waiting += [
            (child, runs and all(child is not part for part in idle))
            for child in ast.iter_child_nodes(node)
        ]
    return left_out - running


def _find_idle_parts(node: ast.AST, module: torch.nn.Module) -> Sequence[ast.AST]:
    """The parts of a branch, an `and` or an `or` that a flag of the model keeps from running."""
    match node:
        case ast.If(test=test, body=body, orelse=other):
            flag = _find_flag(test, module)
            return () if flag is None else other if flag else body
        case ast.IfExp(test=test, body=one, orelse=two):
            flag = _find_flag(test, module)
            return () if flag is None else (two,) if flag else (one,)
        case ast.BoolOp(op=op, values=[first, *others]):
            flag = _find_flag(first, module)
            return others if flag is isinstance(op, ast.Or) else ()
    return ()


def _find_flag(test: ast.expr, module: torch.nn.Module) -> bool | None:
    """The value of a test that is a flag of the model alone, or ends at one; None if it varies."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            flag = _find_flag(operand, module)
            return None if flag is None else not flag
        case ast.BoolOp(op=ast.And(), values=values):
            return False if any(_find_flag(value, module) is False for value in values) else None
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if name != "training":
            owners = [owner for owner in module.modules() if name in vars(owner)]
            flags = [vars(owner)[name] for owner in owners]
            if not flags or type(flags[0]) is not bool or any(f is not flags[0] for f in flags):
                return None
            varies = any(_stores(cls, name) for cls in set(map(type, owners)))
            return None if varies else flags[0]
    return None


def _stores(cls: type, name: str) -> bool:
    """Whether a method of a class, other than `__init__`, sets an attribute."""
    methods = (
        value
        for base in cls.__mro__
        if not base.__module__.startswith("torch.")
        for key, value in vars(base).items()
        if isinstance(value, FunctionType) and key not in _MADE_ONCE
    )
    return any(
        step.opname == "STORE_ATTR" and step.argval == name
        for method in methods
        for step in dis.get_instructions(method)
    )


def _static(cls: type, name: str) -> Any:
    return inspect.getattr_static(cls, name, None)


def _attributes(module: torch.nn.Module, names: set[str]) -> Iterator[Any]:
    """Plain attributes of modules with these names: helper objects of a model."""
    for submodule in module.modules():
        held = vars(submodule)
        yield from (held[name] for name in names if name in held)
