"""The symbols of a program in an archive, numbered in order of first use, and its sizes as text."""

from __future__ import annotations

from collections.abc import Mapping

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.expression_parser import parsed
from export_engine.archive.expression_text import printed
from export_engine.archive.expression_values import linear
from export_engine.archive.expressions import Expression, UnreadableError
from export_engine.describe import Table
from export_engine.record import Expression as Entry
from export_engine.record import Size, number_last


class Symbols:
    """Names for torch's symbols, and the sizes that are made of them."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """Make one.

        Args:
            names: torch's name of a symbol, `s77`, to the user's.
        """
        self._names = dict(names)
        self.table: Table[str, str] = Table()
        """torch's names, by number."""
        self.examples: dict[str, int] = {}
        """Values in the example inputs, by torch's name."""
        self.unreadable: list[str] = []
        """Texts that should be sizes but are not."""
        self._entries: dict[str, Entry] = {}
        self._texts: dict[Expression, str] = {}

    @property
    def expressions(self) -> list[Entry]:
        """Every expression that was asked for."""
        return list(self._entries.values())

    def entry(self, text: str) -> Entry:
        """The expression of a text that `text` returned; of any other, one without symbols."""
        return self._entries.get(text) or Entry(text, [])

    def name(self, symbol: str) -> str:
        """A symbol's name in the user's terms."""
        return self._names.get(symbol, symbol)

    def number(self, symbol: str) -> int:
        """The number of a symbol."""
        known = self.table.find(symbol)
        if known is None and len(self.table.entries) >= limits.SYMBOLS:
            raise ArchiveError(f"It has more than {limits.SYMBOLS:,} symbols.")
        return known if known is not None else self.table.add(symbol, symbol)

    def read(self, size: schema.Size) -> Expression | int | float | bool | str:
        """A size as a value, an expression, or an unreadable text."""
        if size.as_expr is None:
            for value in (size.as_int, size.as_bool):
                if value is not None:
                    return value
            if size.as_float is not None:
                return float(size.as_float)
            return self._unreadable("", "it has no value")
        text = size.as_expr.expr_str
        try:
            expression = parsed(text)
        except UnreadableError as error:
            return self._unreadable(text, str(error))
        self._learn(expression, size.as_expr.hint)
        return expression

    def _unreadable(self, text: str, why: str) -> str:
        """The text shown for an unreadable size."""
        shown = f"unreadable size {text[:80]!r}"
        if shown not in self._entries:
            self._entries[shown] = Entry(shown, [])
            self.unreadable.append(f"{text[:80]!r}: {why}")
        return shown

    def size(self, size: schema.Size) -> Size:
        """A size as it stands in the Record: a number, or the text of an expression."""
        found = self.read(size)
        if isinstance(found, Expression):
            if found.is_number and isinstance(found.value, int):
                return found.value
            return self.text(found)
        if isinstance(found, bool | int):
            return int(found)
        shown = str(found)
        self._entries.setdefault(shown, Entry(shown, []))
        return shown

    def text(self, expression: Expression) -> str:
        """An expression in the user's terms; its symbols are numbered on the way."""
        known = self._texts.get(expression)
        if known is None:
            known = self._texts[expression] = printed(expression, self._names)
            names = {each: known.find(self.name(each)) for each in sorted(expression.symbols)}
            ordered = sorted(names, key=lambda each: names[each])
            self._entries[known] = Entry(known, [self.number(each) for each in ordered])
        return known

    def condition(self, expression: Expression) -> str:
        """A condition as text."""
        return number_last(printed(expression, self._names))

    def _learn(self, expression: Expression, hint: Mapping[str, object] | None) -> None:
        """The example's value of a symbol, from a size that equals it or is linear in it."""
        value = (hint or {}).get("as_int")
        line = linear(expression) if isinstance(value, int) else None
        if line is None or not isinstance(value, int) or abs(value) > limits.INTEGER:
            return
        symbol, scale, offset = line
        if (value - offset) % scale == 0:
            self.examples.setdefault(symbol, (value - offset) // scale)
