"""torch's own explanations of failures: ExportDB's cases, and its registry of graph breaks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from export_engine.torch_internals import private_names as torch_has

_PLACEHOLDERS = ("_explanation", "_gb_type", "{", '"', "str(")
"""Placeholders that torch fills in while it runs, or code in its registry."""


class LibraryCase(NamedTuple):
    """A case of ExportDB, as torch declares it."""

    name: str
    description: str
    tags: tuple[str, ...]
    supported: bool
    source: str
    """The text of its module: `model`, `example_args`, and what else there is."""


@lru_cache(maxsize=1)
def exportdb_cases() -> frozenset[str]:
    """The names of torch's example cases, ExportDB; none where this torch has no such library."""
    return frozenset(case_file.stem for case_file in _case_files())


@lru_cache(maxsize=1)
def exportdb_library() -> tuple[LibraryCase, ...]:
    """All cases, by name; none where this torch has no such library."""
    if not _case_files():
        return ()
    if not torch_has.EXAMPLES:
        return ()
    declared = torch_has.EXAMPLES.value()
    return tuple(
        LibraryCase(
            path.stem,
            declared[path.stem].description,
            tuple(sorted(declared[path.stem].tags)),
            declared[path.stem].support_level.name == "SUPPORTED",
            path.read_text(encoding="utf-8"),
        )
        for path in _case_files()
        if path.stem in declared
    )


def _case_files() -> list[Path]:
    if not torch_has.EXAMPLES_FOLDER:
        return []
    folder = torch_has.EXAMPLES_FOLDER.value.parent
    return [path for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]


Versions = list[dict[str, Any]]
"""For a graph break: dicts with `Gb_type`, `Context`, `Explanation` and `Hints`, oldest last."""


@lru_cache(maxsize=1)
def graph_break_registry() -> dict[str, Versions]:
    """torch's registry of graph breaks, by id (`GB0170`); empty where this torch has none."""
    if not torch_has.GRAPH_BREAKS:
        return {}
    try:
        loads: dict[str, Versions] = json.loads(
            torch_has.GRAPH_BREAKS.value.read_text(encoding="utf-8")
        )
    except (OSError, ValueError):
        return {}
    return loads


@lru_cache(maxsize=1)
def _ids_of_kinds() -> dict[str, str]:
    result: dict[str, str] = {}
    for name, versions in graph_break_registry().items():
        for version in versions:
            result.setdefault(version.get("Gb_type", ""), name)
    return result


def graph_break(kind: str) -> tuple[str, Versions] | None:
    """For a kind of graph break, its id and the versions of torch's entry on it."""
    name = _ids_of_kinds().get(kind)
    return (name, graph_break_registry()[name]) if name else None


def whole_explanations(versions: Versions) -> list[str]:
    """The explanations of an entry without placeholders, each once."""
    return without_holes([str(version.get("Explanation", "")) for version in versions])


def without_holes(texts: Sequence[str]) -> list[str]:
    """The texts without placeholders in torch's registry, each once, in order."""
    entries = dict.fromkeys(text.strip() for text in texts)
    return [text for text in entries if text and not any(hole in text for hole in _PLACEHOLDERS)]
