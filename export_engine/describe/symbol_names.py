"""Names for torch's symbols in the user's terms: the name of their Dim, else `x.shape[0]`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from export_engine.describe.tables import Table
from export_engine.record import Expression, Size, number_last
from export_engine.shapes import Shapes, birth_dims
from export_engine.torch_internals import expression_of, symbol_printer
from export_engine.trace import SymbolBirth


@dataclass(frozen=True)
class Leaf:
    """A user input of the flat program: its path in the call, and its traced value."""

    path: str
    value: Any


class Symbols:
    """The symbols of one program, numbered in order of first use, and expressions of them."""

    def __init__(self, names: dict[str, str], places: dict[str, str], shared: bool = False) -> None:
        """Make one.

        Args:
            names: torch's name of a symbol, `s77`, to the user's.
            places: torch's name of a symbol to the dim it was made for, `x.shape[0]`. Symbols found
                equal later are one in the program; the guard that says so names both places.
            shared: whether input dims of one name are one symbol, too, as what was asked for says.
        """
        self._names = names
        self._print: Callable[[Any], str] = symbol_printer(names)
        self._places = places
        self._shared = shared
        # The Dim behind `4*rows` may be no dim itself: its name is used.
        self._print_places: Callable[[Any], str] = symbol_printer(names | places)
        self._texts: dict[Any, str] = {}
        self.table: Table[str, Any] = Table()
        self._expressions: dict[str, Expression] = {}

    @property
    def expressions(self) -> list[Expression]:
        """Every expression that was asked for."""
        return list(self._expressions.values())

    def expression(self, text: str) -> Expression:
        """The expression of a text that `text` returned."""
        return self._expressions[text]

    def name(self, symbol: Any) -> str:
        """A symbol's name in the user's terms."""
        return self._names.get(str(symbol), str(symbol))

    def number(self, symbol: Any) -> int:
        """The number of a sympy symbol."""
        known = self.table.find(self.key(str(symbol)))
        return known if known is not None else self.table.add(self.key(str(symbol)), symbol)

    def key(self, torch_name: str) -> str:
        """What a symbol is known by: torch's name, or the name that input dims share."""
        shares = self._shared and torch_name in self._places
        return self._names.get(torch_name, torch_name) if shares else torch_name

    def size(self, size: Any) -> Size:
        """A size as it stands in the Record: a number, or the text of an expression."""
        if isinstance(size, int):
            return size
        if not isinstance(size, torch.SymInt | torch.SymFloat | torch.SymBool):
            return str(size)
        expression = expression_of(size)
        if expression.is_number and expression.is_integer:
            return int(expression)
        return self.text(expression)

    def text(self, expression: Any) -> str:
        """A sympy expression in the user's terms; its symbols are numbered on the way."""
        known = self._texts.get(expression)
        if known is None:
            known = self._texts[expression] = self._print(expression)
            symbols = sorted(expression.free_symbols, key=lambda s: known.find(self.name(s)))
            self._expressions[known] = Expression(known, [self.number(s) for s in symbols])
        return known

    def known(self, symbol: Any) -> list[int]:
        """The number of a symbol, in a list; empty for one no longer in the program."""
        number = self.table.find(self.key(str(symbol)))
        return [] if number is None else [number]

    def is_named(self, symbol: Any) -> bool:
        """Whether a symbol is still in the program, under a name of its own."""
        return str(symbol) in self._names

    def born(self, expression: Any) -> str:
        """An expression in terms of the dims its symbols were created for."""
        return self._print_places(expression)

    def guard_text(self, condition: Any) -> str:
        """A condition as text; symbols that share a name, or have none, go by their places."""
        names = [self.name(symbol) for symbol in condition.free_symbols]
        nameless = any(str(symbol) not in self._names for symbol in condition.free_symbols)
        if nameless or len(set(names)) < len(names):
            return number_last(self._print_places(condition))
        return number_last(self._print(condition))


def birth_places(births: list[SymbolBirth], paths: list[str]) -> dict[str, str]:
    """The input dim that each symbol was made for, in the user's terms: `x.shape[0]`."""
    return {symbol: str(place) for symbol, place in birth_dims(births, paths).items()}


def user_names(leaves: list[Leaf], shapes: Shapes | None) -> dict[str, str]:
    """The user's name of each symbol that is some input's dim.

    Args:
        leaves: the program's user inputs.
        shapes: what the user asked for.
    """
    names: dict[str, str] = {}
    loose: dict[str, str] = {}
    fallback: dict[str, str] = {}
    for leaf in leaves:
        tensor = isinstance(leaf.value, torch.Tensor)
        for position, size in enumerate(leaf.value.shape if tensor else [leaf.value]):
            if not isinstance(size, torch.SymInt):
                continue
            expression, known = expression_of(size), shapes if tensor else None
            given = known.symbol_name(leaf.path, position) if known else None
            left = known.loose_name(leaf.path, position) if known else None
            for symbol in map(str, expression.free_symbols):
                if given is not None:
                    names.setdefault(symbol, given)
                elif expression.is_Symbol:
                    place = f"{leaf.path}.shape[{position}]" if tensor else leaf.path
                    fallback.setdefault(symbol, place)
                    if left is not None:
                        loose.setdefault(symbol, left)
    return fallback | _certain(loose, names) | names


def _certain(loose: dict[str, str], names: dict[str, str]) -> dict[str, str]:
    """The names of sizes that torch was not told, of which each is one symbol's alone."""
    often = Counter(loose.values())
    return {
        symbol: name
        for symbol, name in loose.items()
        if often[name] == 1 and name not in names.values()
    }
