"""Finds items with all words of a query, best first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def find_matching(
    items: Iterable[_T], query: str, texts: Callable[[_T], Sequence[str]]
) -> list[_T]:
    """The items whose texts hold every word of a query; all of them for an empty one.

    Args:
        items: what is searched.
        query: words, in any case and order.
        texts: the texts of an item, those that say most of it first. A word found there counts
            for more.
    """
    words = query.casefold().split()
    ranked: list[tuple[int, int, _T]] = []
    for item in items:
        folded = [text.casefold() for text in texts(item)]
        ranks = [next((at for at, text in enumerate(folded) if word in text), -1) for word in words]
        if -1 not in ranks:
            ranked.append((sum(ranks), len(ranked), item))
    return [item for *_, item in sorted(ranked, key=lambda each: each[:2])]
