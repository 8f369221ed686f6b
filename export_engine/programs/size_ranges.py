"""The range of a size of a program, from the ranges of its symbols."""

from __future__ import annotations

import re
from typing import NamedTuple

from export_engine.record import Record, Symbol, interval

Size = int | str
_REACHED = 2**31
"""No size is as large: an end from here on bounds none."""


class Range(NamedTuple):
    """A range of sizes; None leaves an end open."""

    lower: int
    upper: int | None

    def __str__(self) -> str:
        if self.lower == self.upper:
            return str(self.lower)
        return interval(self.lower, self.upper)


def range_of(record: Record, size: Size) -> Range | None:
    """The range of a size; None where it is not a multiple of one symbol and a number."""
    if isinstance(size, int):
        return Range(size, size)
    items = line_of(record, size)
    if items is None:
        return None
    symbol, scale, offset = items
    lower = max((symbol.lower or 0) * scale + offset, 0)
    upper = symbol.upper
    return Range(lower, None if upper is None or upper >= _REACHED else upper * scale + offset)


def line_of(record: Record, size: str) -> tuple[Symbol, int, int] | None:
    """A size as `scale * symbol + offset`; None for any other."""
    for expression in record.expressions:
        if expression.text == size and len(expression.symbols) == 1:
            symbol = record.symbols[expression.symbols[0]]
            match = re.fullmatch(
                rf"(?:(\d+)\s*\*\s*)?{re.escape(symbol.name)}(?:\s*([+-])\s*(\d+))?", size
            )
            if match is None:
                return None
            offset = int(match[3] or 0) * (-1 if match[2] == "-" else 1)
            return symbol, int(match[1] or 1), offset
    return None


def symbol_of(record: Record, size: Size) -> int:
    """The number of the symbol that a size is; -1 for any other size."""
    if isinstance(size, int):
        return -1
    names = [symbol.name for symbol in record.symbols]
    return names.index(size) if size in names else -1
