"""Where a failure is explained: a case of ExportDB, or a page of torch's graph break registry."""

from __future__ import annotations

from export_engine.diagnosis import Link
from export_engine.torch_internals import exportdb_cases, graph_break

_EXPORTDB = "https://pytorch.org/docs/main/generated/exportdb/index.html#{anchor}"
_GRAPH_BREAKS = "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb{number}.html"
_PLACEHOLDERS = ("_explanation", "_gb_type", "{", '"')


def exportdb(name: str, text: str) -> tuple[Link, ...]:
    """The link to a case; none where this torch has no such case."""
    if name not in exportdb_cases():
        return ()
    return (Link("exportdb", name, text, _EXPORTDB.format(anchor=name.replace("_", "-"))),)


def graph_break_page(kind: str) -> tuple[Link, ...]:
    """The link to a graph break's page; none for a kind that is not in torch's registry.

    An entry holds all versions of its text, some with holes that torch fills in while it runs.
    """
    found = graph_break(kind)
    if found is None:
        return ()
    name, versions = found
    said = [str(version.get("Explanation", "")).strip() for version in versions]
    whole = [text for text in said if text and not any(hole in text for hole in _PLACEHOLDERS)]
    url = _GRAPH_BREAKS.format(number=name.removeprefix("GB"))
    return (Link("graph-break", name, whole[0] if whole else kind, url),)
