"""The names of a room, loaded when they are first used: importing a room's face costs nothing.

A face lists its names once, as imports under `if TYPE_CHECKING:`, which type checkers read. Here
the same lines are read at run time. lazy-loader does so with a second file beside each face.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module, util
from typing import Any


def lazy_names(face: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a face, whose `__all__` becomes what it lists.

    Args:
        face: its full name; its source has the imports.
    """
    homes = _homes(face)
    # without its submodules
    vars(sys.modules[face])["__all__"] = sorted(name for name in homes if homes[name] != face)

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {face!r} has no attribute {name!r}")
        if homes[name] == face:  # a package inside of it
            return import_module(f"{face}.{name}")
        value = import_name(homes[name], name)
        setattr(sys.modules[face], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[face]), *homes})

    return load, names


def import_name(module: str, name: str) -> Any:
    """A name of a module.

    Raises:
        MissingPackage: the module needs an optional package that is not installed.
    """
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        from export_engine.missing_packages import missing_package

        raise missing_package(error) or error from error


def _homes(face: str) -> dict[str, str]:
    """Per name of a face, the module that it comes from."""
    spec = util.find_spec(face)
    # not get_source, which pytest's loader of the packages of its plugins does not have
    source = spec.loader.get_data(spec.origin)  # type: ignore[union-attr]
    return {
        name.name: statement.module
        for block in ast.parse(source).body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for name in statement.names
    }
