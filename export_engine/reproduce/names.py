"""The names that definitions use, each bound by a statement of the script."""

from __future__ import annotations

import ast
import builtins
import importlib
import logging
import re
import sys
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

import torch

from export_engine.attempt import Request
from export_engine.defects import passing_over
from export_engine.reproduce.definitions import (
    beside,
    definition_of,
    file_of,
    functions_of,
    names_in,
    scope_of,
    strip_definition,
    without_marks,
)
from export_engine.source import LIBRARIES, TORCH, is_own
from export_engine.torch_internals import op_schema

_OPS = re.compile(r"\btorch\.ops\.(\w+)\.(\w+)")
_TORCHS_OPS = ("aten", "prim", "prims", "higher_order", "quantized", "inductor", "symm_mem")
_MOST = 300
"""Definitions; a script that needs more imports the rest."""


class Names:
    """A script's definitions, in an order in which it can run."""

    def __init__(self, request: Request, write: Callable[[Names, str, Any], None]) -> None:
        """Make one.

        Args:
            request: whose edits are in effect.
            write: writes statements that bind a name to any other value.
        """
        self._write = write
        self.statements: list[str] = []
        self.places: dict[int, str] = {}
        """Where values are that are written, by `id`: what has two names is written once."""
        self.kept: list[Any] = []
        """These values, whose `id` stays theirs."""
        self._edits = request.edits
        self._bound: dict[str, Any] = {"torch": torch, "nn": torch.nn}
        self._ops: set[str] = set()

    @property
    def text(self) -> str:
        """All that was defined so far."""
        return "\n".join(self.statements)

    @property
    def classes(self) -> list[type]:
        """The classes that were defined or imported so far."""
        return [value for value in self._bound.values() if isinstance(value, type)]

    def free(self, wanted: str) -> str:
        """A name that is not bound yet."""
        name = re.sub(r"\W", "_", wanted) or "value"
        name = name if name.isidentifier() else f"a_{name}"
        while name in self._bound or hasattr(builtins, name):
            name += "_"
        return name

    def reserve(self, wanted: str) -> str:
        """A name that is free, and now is not."""
        name = self.free(wanted)
        self._bound[name] = None
        return name

    def reference(self, value: Any) -> str:
        """An expression for a function or a class; its definition is written before."""
        for name, bound in self._bound.items():
            if bound is value:
                return name
        name = self.free(getattr(value, "__name__", type(value).__name__).replace("<lambda>", "f"))
        self.bind(name, value, "")
        return name

    def bind(self, name: str, value: Any, file: str) -> None:
        """Binds a name to a value, unless it is bound.

        Args:
            name: a global of the script.
            value: what it is in the user's process.
            file: where the name is used.
        """
        if name in self._bound:
            return
        self._bound[name] = value
        if isinstance(value, ModuleType):
            self._module(name, value)
        elif isinstance(value, type | FunctionType) or functions_in(value):
            self._definition(name, value)
        else:
            self._value(name, value, file)

    def _value(self, name: str, value: Any, file: str) -> None:
        if type(value).__module__.startswith("torch") and not isinstance(
            value, torch.Tensor | torch.nn.Module | torch.dtype | torch.device | torch.Size
        ):
            imported = _find_import(name, value)
            if imported:
                self.statements.append(imported)
            else:
                self._beside(name, file)
            return
        if isinstance(value, logging.Logger):
            self.statements += ["import logging", f"{name} = logging.getLogger({value.name!r})"]
            return
        with passing_over("writing a global of a script"):
            self._write(self, name, value)

    def _module(self, name: str, value: ModuleType) -> None:
        """A module is imported; of one of the user's own, what is read of it is written."""
        own = is_own(getattr(value, "__file__", None) or "<builtin>")
        if not own:
            plain = value.__name__ == name
            self.statements.append(f"import {value.__name__}" + ("" if plain else f" as {name}"))
            return
        self._bound[name] = _Namespace(value)
        self.statements.append(f"class {name}:\n    pass")

    def _definition(self, name: str, value: Any) -> None:
        imported = _find_import(name, value)
        if imported and (not is_written(value) or len(self.statements) > _MOST):
            self.statements.append(imported)
            return
        node = definition_of(value, self._edits)
        if node is None:  # made by a call, as of namedtuple
            called = getattr(value, "__name__", name)
            if not (is_written(value) and self._beside(called, file_of(value))):
                self.statements.extend([imported] if imported else [])
            elif called != name:
                self.statements.append(f"{name} = {called}")
            return
        without_marks(node, value, is_own)
        file = file_of(value)
        strip_definition(node, isinstance(value, type) and issubclass(value, torch.nn.Module))
        self._needs(node, scope_of(value), file)
        if isinstance(node, ast.Lambda):
            self.statements.append(f"{name} = {ast.unparse(node)}")
            return
        defined = getattr(node, "name", name)
        self.statements.append(ast.unparse(node))
        if defined != name:
            self.statements.append(f"{name} = {defined}")
        for statement in beside(defined, file, self._edits) if isinstance(value, type) else []:
            if isinstance(statement, ast.Expr):
                self._needs(statement, scope_of(value), file)
                self.statements.append(ast.unparse(statement))

    def _beside(self, name: str, file: str) -> bool:
        """Adds the statements of a file that make a global name; whether there are any."""
        statements = beside(name, file, self._edits)
        for statement in statements:
            self._needs(statement, dict(vars(_module_of(file) or builtins)), file)
            self.statements.append(ast.unparse(statement))
        return bool(statements)

    def _needs(self, node: ast.AST, scope: Mapping[str, Any], file: str) -> None:
        """Binds what a definition reads."""
        local = {child.arg for child in ast.walk(node) if isinstance(child, ast.arg)}
        for name in names_in(node):
            if name in scope and name not in local:
                self.bind(name, scope[name], file)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                self._member(inner.value.id, inner.attr, file)
        for namespace, name in _OPS.findall(ast.unparse(node)):
            self._op(namespace, name)

    def _member(self, owner: str, name: str, file: str) -> None:
        """Binds what is read of a module of the user's."""
        space = self._bound.get(owner)
        if not isinstance(space, _Namespace) or name in space.written:
            return
        space.written.add(name)
        value = getattr(space.module, name, None)
        if isinstance(value, type | FunctionType):
            text = self.reference(value)
        else:
            text = self.free(f"{owner}_{name}")
            self.bind(text, value, getattr(space.module, "__file__", None) or file)
        self.statements.append(f"{owner}.{name} = {text}")

    def _op(self, namespace: str, name: str) -> None:
        """Declares an op of the user's, without what it computes."""
        qualified = f"{namespace}::{name}"
        if namespace in _TORCHS_OPS or qualified in self._ops or qualified in self.text:
            return
        self._ops.add(qualified)
        packet = getattr(getattr(torch.ops, namespace), name, None)
        for overload in packet.overloads() if packet is not None else ():
            _, _, signature = str(op_schema(getattr(packet, overload))).partition("(")
            full = qualified if overload == "default" else f"{qualified}.{overload}"
            self.statements.append(f"torch.library.define({full!r}, {'(' + signature!r})")


class _Namespace:
    """A module of the user's, of which only what is read is written."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.written: set[str] = set()


def functions_in(value: Any) -> bool:
    """Whether a value is a wrapped function, such as one of functools.cache."""
    return not isinstance(value, torch.nn.Module) and any(functions_of(value))


def is_written(value: Any) -> bool:
    """Whether a function or a class is written out: the user's, and models of a package."""
    files = {function.__code__.co_filename for function in functions_of(value)} - {"<string>"}
    if not files:
        module = sys.modules.get(getattr(value, "__module__", None) or "")
        files = {getattr(module, "__file__", None) or "<builtin>"}
    if all(is_own(file) for file in files):
        return True
    if any(file.startswith(TORCH) for file in files):
        return False
    model = isinstance(value, type) and issubclass(value, torch.nn.Module)
    return model and any(file.startswith(LIBRARIES) for file in files)


def _find_import(name: str, value: Any) -> str:
    """An import that gives the value; empty if there is none, as for what a notebook defines."""
    for home in dict.fromkeys([getattr(value, "__module__", None) or "", "typing", "math"]):
        inside = str(getattr(value, "__qualname__", None) or getattr(value, "__name__", name))
        if home in ("", "__main__") or not inside.isidentifier():
            continue
        with passing_over("looking for an import"):
            if getattr(importlib.import_module(home), inside, None) is value:
                if home == "builtins":
                    return f"{name} = {inside}" if name != inside else ""
                return f"from {home} import {inside}" + (f" as {name}" if name != inside else "")
    return ""


def _module_of(file: str) -> ModuleType | None:
    modules = [
        module for module in list(sys.modules.values()) if getattr(module, "__file__", "") == file
    ]
    return modules[0] if modules else sys.modules.get("__main__")
