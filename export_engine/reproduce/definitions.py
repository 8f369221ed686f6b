"""Functions and classes as syntax trees of their own, out of the text that defines them."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
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
    found = [
        each
        for qualified, each in _named(text)
        if qualified == name and isinstance(each, ast.ClassDef) == isinstance(value, type)
    ]
    if code is not None and name.endswith("<lambda>"):
        return _lambda_at(text, code)
    if len(found) > 1 and code is not None:  # defined several times: the one around this code
        first = code.co_firstlineno
        around = [each for each in found if _start(each) <= first <= (each.end_lineno or first)]
        found = around or found
    return _copied(found[-1]) if found else None


def beside(name: str, file: str, edits: Sequence[Edit]) -> list[ast.stmt]:
    """The statements of a file that make a global name, and those that register something of it."""
    found = []
    for each in _tree(_text(file, edits)).body:
        if isinstance(each, _DEFINITIONS):
            decorated = any(name in _names(part) for part in each.decorator_list)
            if each.name == name or (decorated and isinstance(each, ast.FunctionDef)):
                found.append(_copied(each))
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            if any(isinstance(to, ast.Name) and to.id == name for to in targets):
                found.append(_copied(each))
        elif registers(each, name):
            found.append(_copied(each))
    return found


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
    given = any(isinstance(each, ast.Name) and each.id == name for each in called.args)
    return root.id == name or (given and "register" in ast.unparse(called.func))


def scope_of(value: Any) -> dict[str, Any]:
    """The globals and the variables of enclosing functions that a function or a class can see."""
    found: dict[str, Any] = {}
    for function in functions_of(value):
        found.update(function.__globals__)
    for function in functions_of(value):
        found.update(closure_of(function))
    return found


def functions_of(value: Any) -> Iterator[FunctionType]:
    """A function itself, or the functions that a class defines."""
    if isinstance(value, type):
        for each in vars(value).values():
            found = function_behind(each)
            if found is not None and found.__qualname__.startswith(f"{value.__qualname__}."):
                yield found
    else:
        found = function_behind(value)
        if found is not None:
            yield found


def stripped(node: ast.stmt | ast.Lambda, module: bool) -> ast.stmt | ast.Lambda:
    """A definition without docstrings, without annotations that nobody reads.

    Args:
        node: changed in place.
        module: whether it is a class of an nn.Module, whose `__init__` then goes too: what that
            made is written as it is.
    """
    for each in ast.walk(node):
        if isinstance(each, Function) and not each.decorator_list:
            each.returns = None
            for argument in ast.walk(each.args):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
        if isinstance(each, _DEFINITIONS):
            documented = ast.get_docstring(each, clean=False) is not None
            each.body = (each.body[1:] if documented else each.body) or [ast.Pass()]
    if module and isinstance(node, ast.ClassDef):
        node.body = [each for each in node.body if not _only_makes(each)] or [ast.Pass()]
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

    node.decorator_list = [each for each in node.decorator_list if not marks(each)]


def _is_plain(node: Function | ast.ClassDef, value: Any) -> bool:
    """Whether a value is what its definition alone makes."""
    if isinstance(value, FunctionType):
        return function_behind(value) is value and value.__closure__ is None
    bound = {each.name for each in node.body if isinstance(each, _DEFINITIONS)}
    bound |= {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
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
    found = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    return [each.id for each in found if isinstance(each.ctx, ast.Load)]


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
    found = (each.__code__ for each in functions_of(value))
    return next((each for each in found if each.co_filename != "<string>"), None)


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


def _copied(node: Any) -> Any:
    return ast.parse(ast.unparse(node)).body[0]


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


@lru_cache(maxsize=64)
def _named(text: str) -> list[tuple[str, ast.stmt]]:
    """Every definition of a text with its qualified name."""
    found: list[tuple[str, ast.stmt]] = []

    def walk(node: ast.AST, prefix: str) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, _DEFINITIONS):
                found.append((prefix + each.name, each))
                local = "" if isinstance(each, ast.ClassDef) else "<locals>."
                walk(each, f"{prefix}{each.name}.{local}")
            else:
                walk(each, prefix)

    walk(_tree(text), "")
    return found


def _lambda_at(text: str, code: CodeType) -> ast.Lambda | None:
    """The lambda of a code; where its line has several, the one with the same arguments."""
    for each in ast.walk(_tree(text)):
        if isinstance(each, ast.Lambda) and each.lineno == code.co_firstlineno:
            arguments = [argument.arg for argument in each.args.args]
            if arguments == list(code.co_varnames[: code.co_argcount]):
                return each
    return None
