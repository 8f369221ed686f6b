"""Inputs that a program gives back with more in them: keys and values without a name of their own.

A decode that returns `(logits, k, v)` says by its ops which output is which input. Its first
arguments have the same place in the results of a prefill.
"""

from __future__ import annotations

from collections.abc import Mapping

from export_engine.programs.cache_ways import CacheWays
from export_engine.programs.component import Component, Given
from export_engine.record import ValueType


def find_continued_inputs(component: Component) -> dict[str, str]:
    """Per path of an output, that of the input which it continues as attention's keys or values.

    Args:
        component: the program that takes and gives them.
    """
    ways = CacheWays(component)
    taken = {entry.node: entry for _, entry in component.taken()}
    paths: dict[str, str] = {}
    for item in component.given():
        if item.in_place or not _says_nothing(item.path):
            continue
        at = ways.find_source(item.node)
        if at not in taken or at == item.node or ways.role(item.node) is None:
            continue
        if _fits(item.type, component.type_of(taken[at])):
            paths[item.path] = taken[at].path
    return {path: name for path, name in paths.items() if list(paths.values()).count(name) == 1}


def is_continued(given: Given, path: str, taken: ValueType, continued: Mapping[str, str]) -> bool:
    """Whether a tensor has the place of what continues an input, and its type.

    Args:
        given: of any program.
        path: of the input.
        taken: its type.
        continued: of the program that takes it.
    """
    return not given.in_place and continued.get(given.path) == path and _fits(given.type, taken)


def _says_nothing(path: str) -> bool:
    """Whether a path is a place in a tuple."""
    return all(part.isdigit() for part in path.split("."))


def _fits(given: ValueType, taken: ValueType) -> bool:
    """Whether one may be given where the other is taken: no size that is a number differs."""
    return (
        given.dtype == taken.dtype
        and len(given.shape) == len(taken.shape)
        and all(
            one == other
            for one, other in zip(given.shape, taken.shape, strict=True)
            if isinstance(one, int) and isinstance(other, int)
        )
    )
