"""Functions and classes as syntax trees of their own, out of the text that defines them."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from export_engine.attempt import Edit
from export_engine.source import closure_of, function_behind

Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def definition_of(value: Any, edits: Sequence[Edit]) -> ast.stmt | ast.Lambda | None:
    """The definition of a function or a class; None where its text is not found.

    Args:
        value: a function or a class.
        edits: those in effect.
    """
    code, text = _code_of(value), _text(file_of(value), edits)
    if isinstance(value, type):
        name = value.__qualname__
    elif code is None:
        return None
    else:
        name = code.co_qualname
    statements = [
        statement
        for qualified, statement in list_definitions(text)
        if qualified == name and isinstance(statement, ast.ClassDef) == isinstance(value, type)
    ]
    if code is not None and name.endswith("<lambda>"):
        return _lambda_at(text, code)
    if len(statements) > 1 and code is not None:  # defined several times: the one around this code
        first = code.co_firstlineno
        around = [
            statement
            for statement in statements
            if _start(statement) <= first <= (statement.end_lineno or first)
        ]
        statements = around or statements
    return _copy(statements[-1]) if statements else None


def beside(name: str, file: str, edits: Sequence[Edit]) -> list[ast.stmt]:
    """The statements of a file that make a global name, and those that register something of it."""
    result = []
    for statement in _tree(_text(file, edits)).body:
        if isinstance(statement, _DEFINITIONS):
            decorated = any(name in _names(part) for part in statement.decorator_list)
            if statement.name == name or (decorated and isinstance(statement, ast.FunctionDef)):
                result.append(_copy(statement))
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(to, ast.Name) and to.id == name for to in targets):
                result.append(_copy(statement))
        elif registers(statement, name):
            result.append(_copy(statement))
    return result


def registers(statement: ast.stmt, name: str) -> bool:
    """Whether a statement is a call on a name, or one of torch's that is given it."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value
    root: ast.expr = called.func
    while isinstance(root, ast.Attribute | ast.Call):
        root = root.value if isinstance(root, ast.Attribute) else root.func
    if not isinstance(root, ast.Name):
        return False
    is_given = any(
        isinstance(argument, ast.Name) and argument.id == name for argument in called.args
    )
    return root.id == name or (is_given and "register" in ast.unparse(called.func))


def scope_of(value: Any) -> dict[str, Any]:
    """The globals and the variables of enclosing functions that a function or a class can see."""
    result: dict[str, Any] = {}
    if isinstance(value, type):
        result.update(vars(sys.modules.get(value.__module__, builtins)))
    for function in functions_of(value):
        result.update(function.__globals__)
    for function in functions_of(value):
        result.update(closure_of(function))
    return result


def functions_of(value: Any) -> Iterator[FunctionType]:
    """A function itself, or the functions that a class defines."""
    if isinstance(value, type):
        for item in vars(value).values():
            function = function_behind(item)
            if function is None or function.__module__ == namedtuple.__module__:
                continue  # of a named tuple, which makes some in its own file
            if function.__qualname__.startswith(f"{value.__qualname__}."):
                yield function
    else:
        function = function_behind(value)
        if function is not None:
            yield function


def strip_definition(node: ast.stmt | ast.Lambda, module: bool) -> ast.stmt | ast.Lambda:
    """A definition without docstrings, without annotations that nobody reads.

    Args:
        node: changed in place.
        module: whether it is a class of an nn.Module, whose `__init__` is then also dropped:
            its results are written directly.
    """
    for inner in ast.walk(node):
        if isinstance(inner, Function) and not inner.decorator_list:
            inner.returns = None
            for argument in ast.walk(inner.args):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
        if isinstance(inner, _DEFINITIONS):
            documented = ast.get_docstring(inner, clean=False) is not None
            inner.body = (inner.body[1:] if documented else inner.body) or [ast.Pass()]
    if module and isinstance(node, ast.ClassDef):
        node.body = [statement for statement in node.body if not _only_makes(statement)] or [
            ast.Pass()
        ]
    return node


def without_marks(node: ast.stmt | ast.Lambda, value: Any, is_own: Callable[[str], bool]) -> None:
    """Drops decorators of the user's own that return what they decorate, such as a registry's.

    Args:
        node: the definition of the value, changed in place.
        value: a function or a class.
        is_own: whether a file is the user's.
    """
    if not isinstance(node, _DEFINITIONS) or not _is_plain(node, value):
        return
    scope = scope_of(value) or vars(sys.modules.get(value.__module__, builtins))

    def marks(decorator: ast.expr) -> bool:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        function = scope.get(called.id) if isinstance(called, ast.Name) else None
        return isinstance(function, FunctionType) and is_own(function.__code__.co_filename)

    node.decorator_list = [
        expression for expression in node.decorator_list if not marks(expression)
    ]


def _is_plain(node: Function | ast.ClassDef, value: Any) -> bool:
    """Whether a value is what its definition alone makes."""
    if isinstance(value, FunctionType):
        return function_behind(value) is value and value.__closure__ is None
    bound = {statement.name for statement in node.body if isinstance(statement, _DEFINITIONS)}
    bound |= {
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    }
    own = {name for name in vars(value) if not name.startswith("__")}
    return own <= bound


def _only_makes(statement: ast.stmt) -> bool:
    named = isinstance(statement, ast.FunctionDef) and statement.name == "__init__"
    return named or (isinstance(statement, ast.AnnAssign) and statement.value is None)


def names_in(node: ast.AST) -> list[str]:
    """The names that a definition reads, each once, in order."""
    return list(dict.fromkeys(_names(node)))


def _names(node: ast.AST) -> list[str]:
    nodes = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    return [node.id for node in nodes if isinstance(node.ctx, ast.Load)]


def file_of(value: Any) -> str:
    """The file that defines a function or a class: of its code, or of its module; empty if unknown.

    A dataclass has functions that Python made of no file.
    """
    for function in functions_of(value):
        file = function.__code__.co_filename
        if file != "<string>":
            return file
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    return getattr(module, "__file__", None) or ""


def _code_of(value: Any) -> CodeType | None:
    codes = (function.__code__ for function in functions_of(value))
    return next((code for code in codes if code.co_filename != "<string>"), None)


def _text(file: str, edits: Sequence[Edit]) -> str:
    for edit in edits:
        if file in (edit.file, edit.edited_file):
            return edit.after
    return "".join(linecache.getlines(file))


@lru_cache(maxsize=64)
def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _copy(node: Any) -> Any:
    return ast.parse(ast.unparse(node)).body[0]


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


@lru_cache(maxsize=64)
def list_definitions(text: str) -> list[tuple[str, ast.stmt]]:
    """Every definition of a text with its qualified name."""
    pairs: list[tuple[str, ast.stmt]] = []

    def walk(node: ast.AST, prefix: str) -> None:
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, _DEFINITIONS):
                pairs.append((prefix + inner.name, inner))
                local = "" if isinstance(inner, ast.ClassDef) else "<locals>."
                walk(inner, f"{prefix}{inner.name}.{local}")
            else:
                walk(inner, prefix)

    walk(_tree(text), "")
    return pairs


def _lambda_at(text: str, code: CodeType) -> ast.Lambda | None:
    """The lambda of a code; where its line has several, the one with the same arguments."""
    for node in ast.walk(_tree(text)):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            arguments = [argument.arg for argument in node.args.args]
            if arguments == list(code.co_varnames[: code.co_argcount]):
                return node
    return None
