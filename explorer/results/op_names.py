"""Ops by the names that users write: `linear`, and `true_graph_0.sin` of a nested graph."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from export_engine.record import Record


def op_places(record: Record) -> dict[str, tuple[int, int]]:
    """Per name of a node, the number of its graph and its own."""
    result: dict[str, tuple[int, int]] = {}
    for number, graph in enumerate(record.graphs):
        within = f"{graph.title}." if number else ""
        for node, name in enumerate(graph.name):
            result.setdefault(f"{within}{record.strings[name]}", (number, node))
    return result


def nearest(name: str, known: Collection[str]) -> str:
    """A sentence that names what may have been meant, with a space before it; empty if nothing."""
    near = ", ".join(get_close_matches(name, known, 3))
    return f" Nearest: {near}." if near else ""
