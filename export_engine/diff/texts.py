"""Differences in the texts of two programs: source files and printed graphs."""

from __future__ import annotations

from collections.abc import Iterator

from export_engine.record import Record, TextDiff
from export_engine.source import SourceMissing, format_diff, print_graph, source_text

_OWN = ("user", "cell", "generated")
"""Origins of files that the user may have changed."""


def text_differences(before: Record, after: Record) -> list[TextDiff]:
    """The texts that differ, each as a unified diff: source files first, then printed graphs.

    Files are paired by name; of cells, which have other names each time they run, by their order.
    """
    return [*_sources(before, after), *_graphs(before, after)]


def _sources(before: Record, after: Record) -> Iterator[TextDiff]:
    mine, theirs = _files(before), _files(after)
    for key, (name, one) in mine.items():
        if key not in theirs:
            continue
        now, other = theirs[key]
        text = format_diff(one, other, name, now)
        if text:
            yield TextDiff("source", now, text)


def _files(record: Record) -> dict[object, tuple[str, str]]:
    """Per file of the user's, its name and its text."""
    result: dict[object, tuple[str, str]] = {}
    cells = 0
    for number, file in enumerate(record.files):
        if file.origin not in _OWN:
            continue
        key: object = file.name
        if file.origin == "cell":
            key, cells = cells, cells + 1
        try:
            result[key] = (file.name, source_text(record, number))
        except SourceMissing:
            continue
    return result


def _graphs(before: Record, after: Record) -> Iterator[TextDiff]:
    """Graph by graph, in order: the main one first."""
    for number in range(min(len(before.graphs), len(after.graphs))):
        title = after.graphs[number].title
        one, other = print_graph(before, number), print_graph(after, number)
        text = format_diff("\n".join(one.lines), "\n".join(other.lines), title)
        if text:
            yield TextDiff("code", title, text)
