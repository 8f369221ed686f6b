"""Modules that have another path in the second of two programs, and what moved with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from export_engine.record import RenamedScope

if TYPE_CHECKING:
    from export_engine.record import Change, Difference, GraphDiff, Pair, Record

_Path = tuple[str, str]
"""For a module: before and after."""


def find_renamed_scopes(
    before: Record, after: Record, graphs: Sequence[GraphDiff], others: Sequence[Difference]
) -> list[RenamedScope]:
    """The renamed modules, in the order of the first program.

    Args:
        before: the first program.
        after: the second.
        graphs: the differences of the graphs.
        others: the differences outside of them.
    """
    paths: dict[_Path, dict[_Path, None]] = {}
    moved: dict[_Path, list[list[int]]] = {}
    for number, graph in enumerate(graphs):
        for at, pair in enumerate(graph.pairs):
            change = _scope_alone(pair)
            if change is None:
                continue
            path = _without_common_end(change.before, change.after)
            general = _any_index(path)
            paths.setdefault(general, {})[path] = None
            moved.setdefault(general, [[] for _ in graphs])[number].append(at)
    inputs = _find_moved_inputs(others, paths, _read_alike(before, after, graphs[0]))
    return [
        RenamedScope(
            *(general if len(alike) > 1 else next(iter(alike))),
            modules=len(alike),
            pairs=moved[general],
            others=inputs.get(general, []),
        )
        for general, alike in paths.items()
    ]


def _scope_alone(pair: Pair) -> Change | None:
    """The change of its scope, if nothing else of a pair changed by itself."""
    own = [change for change in pair.changes if not change.follows]
    return own[0] if len(own) == 1 and own[0].what == "scope" else None


def _read_alike(before: Record, after: Record, graph: GraphDiff) -> dict[str, str]:
    """Per weight of the first program, the one that the same ops of the second read."""
    names = [
        {entry.node: entry.target for entry in record.signature.inputs}
        for record in (before, after)
    ]
    return {
        names[0].get(pair.before, ""): names[1].get(pair.after, "")
        for pair in graph.pairs
        if pair.before in names[0]
    }


def _find_moved_inputs(
    others: Sequence[Difference], paths: dict[_Path, dict[_Path, None]], readers: dict[str, str]
) -> dict[_Path, list[int]]:
    """Numbers of what is gone under a name and new under the renamed one, otherwise the same."""
    new = {
        other.name: at
        for at, other in enumerate(others)
        if other.kind == "input" and not other.before
    }
    groups: dict[_Path, list[int]] = {}
    taken: set[int] = set()
    renames: dict[str, list[tuple[str, _Path]]] = {}
    for general, alike in paths.items():
        for before, after in alike:
            renames.setdefault(before, []).append((after, general))
    for at, difference in enumerate(others):
        if difference.kind != "input" or difference.after:
            continue
        for name, general in _new_names(difference.name, renames):
            partner = new.get(name)
            if partner is None or partner in taken or others[partner].after != difference.before:
                continue
            if readers.get(difference.name, name) != name:
                continue
            taken.add(partner)
            groups.setdefault(general, []).extend((at, partner))
            break
    return groups


def _new_names(
    name: str, renames: dict[str, list[tuple[str, _Path]]]
) -> Iterator[tuple[str, _Path]]:
    """The name of an input if one of the modules that it is in were renamed."""
    parts = name.split(".")
    for length in range(len(parts)):
        rest = parts[length:]
        for after, general in renames.get(".".join(parts[:length]), ()):
            yield ".".join([after, *rest] if after else rest), general


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
