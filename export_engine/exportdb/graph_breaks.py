"""torch's registry of graph breaks as pages: what breaks, why, and what torch advises."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from export_engine.diagnose import graph_break_url
from export_engine.exportdb.text_search import find_matching
from export_engine.record import GraphBreakPage
from export_engine.torch_internals import graph_break_registry, without_holes

_HOLE = re.compile(r"\{([^{}]*)\}")
_SPACES = re.compile(r"[ \t]+")


@lru_cache(maxsize=1)
def graph_break_pages() -> tuple[GraphBreakPage, ...]:
    """All pages, by id; none where this torch has no registry."""
    pages = []
    for name, versions in graph_break_registry().items():
        titles = without_holes(
            [_fill_holes(str(version.get("Gb_type", ""))) for version in versions]
        )
        hints = [
            _fill_holes(str(hint)) for version in versions for hint in version.get("Hints", [])
        ]
        pages.append(
            GraphBreakPage(
                name=name,
                title=titles[0] if titles else name,
                explanations=_texts(str(version.get("Explanation", "")) for version in versions),
                hints=without_holes(hints),
                contexts=_texts(str(version.get("Context", "")) for version in versions),
                url=graph_break_url(name),
            )
        )
    return tuple(sorted(pages, key=lambda page: page.name))


def search_graph_breaks(query: str) -> list[GraphBreakPage]:
    """The pages that have every word in their id, title, hints or explanation."""
    return find_matching(
        graph_break_pages(),
        query,
        lambda page: (f"{page.name} {page.title}", " ".join([*page.explanations, *page.hints])),
    )


def _texts(given: Iterable[str]) -> list[str]:
    return without_holes([_fill_holes(text) for text in given])


def _fill_holes(text: str) -> str:
    """The text with the names of its holes in angle brackets."""
    return _SPACES.sub(" ", _HOLE.sub(r"<\1>", text)).strip()
