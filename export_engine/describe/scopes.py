"""Scopes: which call of which module instance an op belongs to, from torch's `nn_module_stack`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from export_engine.describe.tables import Table
from export_engine.record import Scope
from export_engine.torch_internals import NO_MODULE


class Scopes:
    """The scopes of one Record, parents before children."""

    def __init__(self, title: str, known_paths: Iterable[str]) -> None:
        """Make one.

        Args:
            title: the name of the root, which has no attribute path.
            known_paths: attribute paths of the program's modules.
        """
        self._title = title
        self._known = frozenset(known_paths)
        self.table: Table[tuple[int, str], Scope] = Table()
        self._innermost: dict[tuple[str, ...], int] = {}

    def number(self, module_stack: Mapping[str, Any] | None) -> int:
        """The number of the innermost scope of a node's `nn_module_stack`; -1 where it has none.

        Passes of the user's may have left anything there; what torch does not write is left out.
        """
        if not isinstance(module_stack, Mapping) or not module_stack or NO_MODULE in module_stack:
            return -1
        keys = tuple(map(str, module_stack))
        known = self._innermost.get(keys)
        if known is None:
            known = self._innermost[keys] = self._enter(module_stack)
        return known

    def _enter(self, module_stack: Mapping[str, Any]) -> int:
        scope, parent_path = -1, ""
        for key, noted in module_stack.items():
            if not isinstance(noted, tuple | list) or len(noted) != 2:
                continue
            written, cls = noted
            path = self._find_module_path(_plain_path(str(written)))
            if scope >= 0 and path == parent_path:
                continue  # the branch of a cond names its root again
            found = self.table.find((scope, key))
            if found is None:
                entry = Scope(
                    path,
                    _relative(path, parent_path) if path else self._title,
                    _class_name(cls),
                    scope,
                    _call_number(str(key)),
                )
                found = self.table.add((scope, key), entry)
            scope, parent_path = found, path
        return scope

    def _find_module_path(self, path: str) -> str:
        """A module that strict mode reached through a closure or global, under its own path."""
        if not self._known or path in self._known:
            return path
        last = path.rpartition(".")[2]
        same = [text for text in self._known if text.rpartition(".")[2] == last]
        return same[0] if len(same) == 1 else path


_LOCAL = re.compile(r"^L\['\w+'\]")
"""A local variable as Dynamo writes it; the module itself is `self` in its own `forward`."""


def _plain_path(path: str) -> str:
    """A path as attributes from the root.

    Dynamo writes some as Python, `L['self'].layers[0]`, and strict mode calls the root
    `_export_root`.
    """
    path = _LOCAL.sub("", path).replace("[", ".").replace("]", "").replace("'", "")
    path = path.lstrip(".")
    return path.removeprefix("_export_root").lstrip(".")


def _relative(path: str, parent: str) -> str:
    if parent and path.startswith(parent + "."):
        return path[len(parent) + 1 :]
    return path


def _class_name(cls: Any) -> str:
    """Older programs keep the class itself; a loaded one may keep any text."""
    return f"{cls.__module__}.{cls.__qualname__}" if isinstance(cls, type) else str(cls)


def _call_number(key: str) -> int:
    """torch marks the second call of an instance `key@1`, the third `key@2`."""
    number = key.rpartition("@")[2] if "@" in key else "0"
    return int(number) if number.isdigit() else 0
