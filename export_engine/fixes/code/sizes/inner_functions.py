"""Functions inside of one that only compute a value, put in place of their calls."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import NamedTuple


class Computed(NamedTuple):
    """The arguments of a function, and what it returns."""

    arguments: tuple[str, ...]
    value: ast.expr


def only_computes(function: ast.FunctionDef) -> Computed | None:
    """A function that only returns an expression of its arguments, behind its docstring."""
    args = function.args
    body = function.body[ast.get_docstring(function) is not None :]
    others = [*args.posonlyargs, *args.kwonlyargs, args.vararg, args.kwarg, *args.defaults]
    if not args.args or any(others) or function.decorator_list or len(body) != 1:
        return None
    value = body[0].value if isinstance(body[0], ast.Return) else None
    return (
        Computed(tuple(argument.arg for argument in args.args), value)
        if value is not None
        else None
    )


def in_place(code: ast.expr, functions: Mapping[str, Computed]) -> ast.expr:
    """An expression with what functions return where it calls them with a name."""
    expression: ast.expr = _Inlined(functions).visit(copy.deepcopy(code))
    return expression


class _Inlined(ast.NodeTransformer):
    def __init__(self, functions: Mapping[str, Computed]) -> None:
        self.functions = functions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        arguments, value = self.functions.get(called, ((), None))
        names = [argument.id for argument in node.args if isinstance(argument, ast.Name)]
        if value is None or len(names) != len(node.args) or len(names) != len(arguments):
            return node
        if node.keywords or _binds(value, {*arguments, *names}):
            return node
        others = {name: function for name, function in self.functions.items() if name != called}
        renamed = _Renamed(dict(zip(arguments, names, strict=True))).visit(copy.deepcopy(value))
        result: ast.AST = _Inlined(others).visit(renamed)
        return result


def _binds(value: ast.expr, names: set[str]) -> bool:
    """Whether an expression gives one of some names another meaning."""
    stored = (n for n in ast.walk(value) if isinstance(n, ast.Name))
    return any(n.id in names and not isinstance(n.ctx, ast.Load) for n in stored)


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)
