"""Modules that have another path in the second of two programs, and what moved with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from explorer.rendering.attempt_text import counted

if TYPE_CHECKING:
    from export_engine.record import Change, Difference, Pair

_Path = tuple[str, str]
"""Of a module: before and after."""


class RenamedScope(Struct):
    """A module's path that became another one."""

    before: str
    """`layers.57.attn`; `layers.*.attn` where it became another in the same way at each index."""
    after: str
    paths: list[tuple[str, str]]
    """One by one."""
    pairs: list[Pair]
    """Of nodes in it, of which nothing else changed."""
    inputs: int = 0
    """Parameters, buffers and constants in it, of which nothing else changed."""

    @property
    def title(self) -> str:
        """`layers.57.attn → layers.57.attention`; the root has no path."""
        return f"{self.before or 'the root'} → {self.after or 'the root'}"

    @property
    def moved(self) -> str:
        """`36 nodes and 4 inputs, otherwise the same`."""
        held = f" and {counted(self.inputs, 'input')}" if self.inputs else ""
        return f"{counted(len(self.pairs), 'node')}{held}, otherwise the same"


def renamed_scopes(pairs: Iterable[Pair]) -> list[RenamedScope]:
    """The renamed modules, in the order of the first program."""
    found: dict[_Path, RenamedScope] = {}
    for pair in pairs:
        change = scope_alone(pair)
        if change is None:
            continue
        path = _without_common_end(change.before, change.after)
        scope = found.setdefault(_any_index(path), RenamedScope(*path, [], []))
        scope.pairs.append(pair)
        if path not in scope.paths:
            scope.paths.append(path)
    for (before, after), scope in found.items():
        if len(scope.paths) > 1:
            scope.before, scope.after = before, after
    return list(found.values())


def scope_alone(pair: Pair) -> Change | None:
    """The change of its scope, if nothing else of a pair changed by itself."""
    own = [each for each in pair.changes if not each.follows]
    return own[0] if len(own) == 1 and own[0].what == "scope" else None


def without_renamed(
    others: Sequence[Difference], scopes: Sequence[RenamedScope]
) -> list[Difference]:
    """The differences but those of inputs that moved with a module, which are counted in it."""
    new = {each.name: each.after for each in others if each.kind == "input" and not each.before}
    moved: set[str] = set()
    renames = [(*path, scope) for scope in scopes for path in scope.paths]
    for each in others:
        if each.kind != "input" or each.after:
            continue
        for before, after, scope in renames:
            name = _renamed(each.name, before, after)
            if new.get(name) == each.before and name not in moved:
                moved |= {name, each.name}
                scope.inputs += 1
                break
    return [each for each in others if each.kind != "input" or each.name not in moved]


def _renamed(name: str, before: str, after: str) -> str:
    start = f"{before}." if before else ""
    if not name.startswith(start):
        return ""
    return f"{after}.{name[len(start) :]}" if after else name[len(start) :]


def _without_common_end(before: str, after: str) -> _Path:
    old, new = before.split("."), after.split(".")
    while old and new and old[-1] == new[-1]:
        old.pop()
        new.pop()
    return ".".join(old), ".".join(new)


_INDEX = re.compile(r"(?<![^.])\d+(?![^.])")


def _any_index(path: _Path) -> _Path:
    """The paths with `*` for their indices, if these are the same in both."""
    before, after = path
    if _INDEX.findall(before) != _INDEX.findall(after):
        return path
    return _INDEX.sub("*", before), _INDEX.sub("*", after)
