"""Which symbol of one program is which of another: one to one, by the types of paired values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import permutations

from export_engine.diff.size_forms import size_form
from export_engine.record import Record, Size, ValueType

_MOST_FREE = 4
"""Symbols of one expression that nothing else pairs, up to which every pairing is tried."""
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""

TypePair = tuple[int, int]
"""A type of each program, by number."""


class SymbolPairs:
    """Pairs of symbols under construction, by number."""

    def __init__(self, before: Record, after: Record) -> None:
        """Begin without any."""
        self.partner: dict[int, int] = {}
        """Per symbol of the first program, the one of the second."""
        self._origin: dict[int, int] = {}
        self._before, self._after = _Symbols(before), _Symbols(after)
        self._never_negative = {
            _make_token(number)
            for number, symbol in enumerate(before.symbols)
            if symbol.lower is not None and symbol.lower >= 0
        }

    def pair_types(self, types: Iterable[TypePair]) -> TypePair | None:
        """Pairs the symbols in pairs of types; the first pair that differs, or None."""
        composed: list[tuple[Size, Size, TypePair]] = []
        for pair in types:
            sizes = self._sizes_of(*pair)
            if sizes is None:
                return pair
            for one, other in sizes:
                numbers = self._before.number(one), self._after.number(other)
                if numbers == (-1, -1):
                    composed.append((one, other, pair))
                elif not self._pair(*numbers):
                    return pair
        for one, other, composed_pair in composed:
            if not self._is_same(one, other):
                return composed_pair
        return None

    def mentions(self, text: str) -> bool:
        """Whether a text of the first program may be about sizes."""
        return self._before.mentions(text)

    def says_the_same(self, before: str, after: str) -> bool:
        """Whether two texts are equal, apart from the names of symbols outside of quotes."""
        ours = self._before.with_tokens(before, {number: number for number in self.partner})
        return ours == self._after.with_tokens(after, self._origin)

    def _sizes_of(self, one: int, other: int) -> list[tuple[Size, Size]] | None:
        """The sizes that have to be the same for two types to be; None where they are not."""
        if min(one, other) < 0:
            return [] if one == other else None
        mine, theirs = self._before.types[one], self._after.types[other]
        if _symbol_free_part(mine) != _symbol_free_part(theirs):
            return None
        if mine.items:
            parts = [self._sizes_of(*pair) for pair in zip(mine.items, theirs.items, strict=True)]
            return None if None in parts else [size for part in parts for size in part or ()]
        if mine.value is not None and theirs.value is not None:
            return [(mine.value, theirs.value)]
        if mine.kind == "tensor":
            return list(zip(mine.shape, theirs.shape, strict=True))
        return [] if mine.text == theirs.text else None

    def _pair(self, one: int, other: int) -> bool:
        if one < 0 or other < 0 or self._before.kind(one) != self._after.kind(other):
            return False
        if one not in self.partner and other not in self._origin:
            self.partner[one], self._origin[other] = other, one
        return self.partner.get(one) == other

    def _is_same(self, one: Size, other: Size) -> bool:
        if isinstance(one, int) or isinstance(other, int):
            return one == other
        free = [number for number in self._before.inside(one) if number not in self.partner]
        others = [number for number in self._after.inside(other) if number not in self._origin]
        if len(free) != len(others) or len(free) > _MOST_FREE:
            return False
        ours = self._form(
            self._before, one, {number: number for number in self._before.inside(one)}
        )
        for order in permutations(others):
            tried = dict(zip(order, free, strict=True))
            if self._form(self._after, other, {**self._origin, **tried}) == ours:
                return all(self._pair(mine, theirs) for theirs, mine in tried.items())
        return False

    def _form(self, side: _Symbols, text: str, numbers: Mapping[int, int]) -> object:
        return size_form(side.with_tokens(text, numbers), self._never_negative)


class _Symbols:
    """The symbols of one program, and the texts about them."""

    def __init__(self, record: Record) -> None:
        self.types = record.types
        self._record = record
        self._inside = {expression.text: expression.symbols for expression in record.expressions}
        self._numbers = {symbol.name: number for number, symbol in enumerate(record.symbols)}
        names = sorted(self._numbers, key=len, reverse=True)
        named = "|".join(re.escape(name) for name in names)
        self._name = re.compile(rf"{_QUOTED}|(?<![\w.])({named})(?![\w])") if names else None
        self.mentions = lru_cache(maxsize=8192)(self._mentions)

    def kind(self, number: int) -> str:
        return self._record.symbols[number].kind

    def number(self, size: Size) -> int:
        """The number of the symbol that a size is; -1 for any other size."""
        return self._numbers.get(size, -1) if isinstance(size, str) else -1

    def inside(self, size: str) -> Sequence[int]:
        return self._inside.get(size, ())

    def with_tokens(self, text: str, numbers: Mapping[int, int]) -> str:
        """A text with common tokens for its symbols, and names of its own for those without."""
        if self._name is None:
            return text

        def to_token(match: re.Match[str]) -> str:
            number = self._numbers.get(match[1], -1) if match[1] else -1
            return _make_token(numbers[number]) if number in numbers else match[0]

        return self._name.sub(to_token, text)

    def _mentions(self, text: str) -> bool:
        return self._name is not None and any(match[1] for match in self._name.finditer(text))


def _make_token(number: int) -> str:
    return f"_{number}_"


def _symbol_free_part(kind: ValueType) -> tuple[object, ...]:
    """The part of a type without symbols."""
    ends = len(kind.items), len(kind.shape), kind.value is None
    return kind.kind, kind.dtype, kind.device, kind.layout, *ends
