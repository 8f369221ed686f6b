"""Search by words, as the search box does; `widgets/frontend/src/search.ts` is its twin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from export_engine.query.texts import contains
from export_engine.record import OPS, Record

_GET_ATTR = OPS.index("get_attr")
_BLANK_IN_BRACKETS = re.compile(r"\[[^\]]*\]?")


class _Entry(NamedTuple):
    """What is known of one node, to be searched."""

    own: str
    path: str
    """A dotted path of its own, and `above` of what it is in: a match in both is not its own."""
    above: str
    around: str
    """Texts of the modules that it is in."""


def matching_words(
    record: Record, words: tuple[str, ...], alone: bool = False
) -> set[tuple[int, int]]:
    """Nodes that match every word, by themselves or by a module that they are in.

    Args:
        record: what is searched.
        words: what for.
        alone: whether nothing else is asked of a node: then it has to match a word by itself.
    """
    if not words:
        return set()
    joined = [_BLANK_IN_BRACKETS.sub(lambda each: "".join(each[0].split()), one) for one in words]
    patterns = [contains(text) for text in joined]
    return {place for place, entry in _entries(record) if _matches(entry, patterns, alone)}


def _matches(entry: _Entry, patterns: list[re.Pattern[str]], alone: bool) -> bool:
    own = not alone
    for pattern in patterns:
        in_path = pattern.search(entry.path)
        here = pattern.search(entry.own) or (in_path and not pattern.search(entry.above))
        own = own or bool(here)
        if not here and not in_path and not pattern.search(entry.around):
            return False
    return own


def _entries(record: Record) -> Iterator[tuple[tuple[int, int], _Entry]]:
    around: list[str] = []
    for module_scope in record.scopes:  # parents come before children
        outer = around[module_scope.parent] if module_scope.parent >= 0 else ""
        around.append(f"{outer}\n{module_scope.path}\n{module_scope.cls}")
    types = [value_type.text.replace(", ", ",") for value_type in record.types]
    stacks = ["\n".join(f"{name}:{line}" for name, line in places_of(record, number))
              for number in range(len(record.stacks.starts) - 1)]  # fmt: skip
    inputs = {entry.node: entry for entry in record.signature.inputs if entry.node >= 0}
    for number, graph in enumerate(record.graphs):
        for node, op in enumerate(graph.op):
            if op == _GET_ATTR:
                continue
            entry = inputs.get(node) if number == 0 else None
            target, kind = graph.target[node], graph.type[node]
            stack, scope = graph.stack[node], graph.scope[node]
            own = [
                record.strings[graph.name[node]],
                record.targets[target].name if target >= 0 else "",
                types[kind] if kind >= 0 else "",
                entry.path if entry else "",
                stacks[stack] if stack >= 0 else "",
            ]
            path = (entry.target if entry else "") or ""
            above = path.rpartition(".")[0]
            result = _Entry("\n".join(own), path, above, around[scope] if scope >= 0 else "")
            yield (number, node), result


def places_of(record: Record, stack: int) -> list[tuple[str, int]]:
    """File and line of each frame of a stack."""
    starts, items = record.stacks.starts, record.stacks.items
    frames = items[starts[stack] : starts[stack + 1]]
    files = record.files
    return [(files[record.frames.file[at]].name, record.frames.line[at]) for at in frames]
