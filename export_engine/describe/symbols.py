"""The symbols of one program, numbered in order of first use, and its sizes as text."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from export_engine.describe.source import AnySize
from export_engine.describe.tables import Table
from export_engine.record import Expression as Entry
from export_engine.record import Size, number_last
from export_engine.sizes import Expression, print_size


class Symbols:
    """Names for torch's symbols, and the sizes that are made of them."""

    def __init__(
        self,
        names: Mapping[str, str],
        places: Mapping[str, str] = MappingProxyType({}),
        shared: bool = False,
    ) -> None:
        """Make one.

        Args:
            names: torch's name of a symbol, `s77`, to the user's.
            places: torch's name of a symbol to the dim it was made for, `x.shape[0]`. Symbols found
                equal later are one in the program; the guard for it names both places.
            shared: whether input dims of one name are one symbol, too, as what was asked for says.
        """
        self._names = dict(names)
        self._places = dict(places)
        self._shared = shared
        # The Dim behind `4*rows` may be no dim itself: its name is used.
        self._names_and_places = {**names, **places}
        self.table: Table[str, str] = Table()
        """torch's names, by number."""
        self._texts: dict[Expression, str] = {}
        self._entries: dict[str, Entry] = {}

    @property
    def expressions(self) -> list[Entry]:
        """Every expression that was asked for."""
        return list(self._entries.values())

    def entry(self, text: str) -> Entry:
        """The expression of a text that `size` returned."""
        return self._entries[text]

    def name(self, symbol: str) -> str:
        """A symbol's name in the user's terms."""
        return self._names.get(symbol, symbol)

    def number(self, symbol: str) -> int:
        """The number of a symbol."""
        key = self.key(symbol)
        known = self.table.find(key)
        return known if known is not None else self.table.add(key, symbol)

    def key(self, symbol: str) -> str:
        """The name of a symbol: torch's, or the one that input dims share."""
        shares = self._shared and symbol in self._places
        return self._names.get(symbol, symbol) if shares else symbol

    def size(self, size: AnySize | float) -> Size:
        """A size in the Record's form: a number, or the text of an expression."""
        if isinstance(size, Expression):
            if size.is_number and isinstance(size.value, int):
                return size.value
            return self.text(size)
        if isinstance(size, int):
            return int(size)
        shown = str(size)
        self._entries.setdefault(shown, Entry(shown, []))
        return shown

    def text(self, expression: Expression) -> str:
        """An expression in the user's terms; its symbols are numbered on the way."""
        cached = self._texts.get(expression)
        if cached is None:
            cached = self._texts[expression] = print_size(expression, self._names)
            at = {symbol: cached.find(self.name(symbol)) for symbol in sorted(expression.symbols)}
            ordered = sorted(at, key=lambda each: at[each])
            self._entries[cached] = Entry(cached, [self.number(text) for text in ordered])
        return cached

    def find_number(self, symbol: str) -> list[int]:
        """The number of a symbol, in a list; empty for one no longer in the program."""
        number = self.table.find(self.key(symbol))
        return [] if number is None else [number]

    def is_named(self, symbol: str) -> bool:
        """Whether a symbol is still in the program, under a name of its own."""
        return symbol in self._names

    def born(self, expression: Expression) -> str:
        """An expression in terms of the dims its symbols were created for."""
        return print_size(expression, self._names_and_places)

    def guard_text(self, condition: Expression) -> str:
        """A condition as text; symbols that share a name, or have none, go by their places."""
        names = {self.name(symbol) for symbol in condition.symbols}
        nameless = any(symbol not in self._names for symbol in condition.symbols)
        by_place = nameless or len(names) < len(condition.symbols)
        shown = self._names_and_places if by_place else self._names
        return number_last(print_size(condition, shown))
