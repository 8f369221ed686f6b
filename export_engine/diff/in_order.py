"""Pairs equal items of two sequences, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher

_AT_ONCE = 1_000_000
"""Pairs of equal items up to which two sequences are compared as wholes, in about a second."""
_PIECE = 400
"""Items of a piece of longer ones."""


def in_order(ones: Sequence[Hashable], others: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Positions of equal items, rising in both.

    difflib's time grows at least quadratically. So of sequences in which very
    many are equal, as in a chain of one op, pieces in the same part of both are compared.
    """
    most = min(len(ones), len(others))
    start = _common(zip(ones, others, strict=False))
    end = _common(zip(reversed(ones[start:]), reversed(others[start:]), strict=False))
    yield from ((at, at) for at in range(start))
    middle, other_middle = ones[start : len(ones) - end], others[start : len(others) - end]
    pieces = 1 if _pairs(middle, other_middle) <= _AT_ONCE else -(-most // _PIECE)
    for piece in range(pieces):
        low, high = _part(middle, piece, pieces)
        other_low, other_high = _part(other_middle, piece, pieces)
        matcher = SequenceMatcher(
            None, middle[low:high], other_middle[other_low:other_high], autojunk=False
        )
        for one, other, size in matcher.get_matching_blocks():
            for step in range(size):
                yield start + low + one + step, start + other_low + other + step
    yield from ((len(ones) - at, len(others) - at) for at in range(end, 0, -1))


def _common(pairs: Iterator[tuple[Hashable, Hashable]]) -> int:
    """How many are equal before the first that differ."""
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _pairs(ones: Sequence[Hashable], others: Sequence[Hashable]) -> int:
    counts = Counter(others)
    return sum(count * counts[item] for item, count in Counter(ones).items())


def _part(items: Sequence[Hashable], piece: int, pieces: int) -> tuple[int, int]:
    return len(items) * piece // pieces, len(items) * (piece + 1) // pieces
