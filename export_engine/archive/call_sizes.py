"""The input sizes of a program in an archive, numbered, and formulas over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from export_engine.archive import limits
from export_engine.archive.contract import Ranges
from export_engine.archive.expression_text import printed
from export_engine.archive.expression_values import linear, value_of
from export_engine.archive.expressions import Expression, number
from export_engine.archive.symbols import Symbols
from export_engine.record import Formula, NoFormula, Size, SizeInput, compile_formula, guard_text
from export_engine.shapes import InputPlace, source_place


class CallSizes:
    """Every size of every user input, by number: `d0`, `d1`, ..."""

    def __init__(self, symbols: Symbols, ranges: Ranges, paths: Sequence[str]) -> None:
        self._symbols = symbols
        self._ranges = ranges
        self._paths = paths
        self.inputs: list[SizeInput] = []
        self.values: list[int | Expression] = []
        """Per size, the number or expression that the program has for it."""
        self._by_place: dict[tuple[str, int], int] = {}
        self._by_symbol: dict[str, str] = {}

    def add(self, entry: int, dim: int, path: str, value: int | Expression) -> None:
        """Adds a size.

        Args:
            entry: of the signature's inputs.
            dim: of the tensor; -1 for a number.
            path: of the input.
            value: what the program has for it.
        """
        size: Size = self._symbols.text(value) if isinstance(value, Expression) else value
        place = InputPlace(path, dim)
        self._by_place[path, dim] = len(self.inputs)
        self.values.append(value)
        line = linear(value) if isinstance(value, Expression) else None
        self.inputs.append(
            SizeInput(
                entry,
                dim,
                str(place),
                self._example(value),
                size,
                symbol=self._symbols.number(line[0]) if line else -1,
                scale=line[1] if line else 1,
                offset=line[2] if line else 0,
            )
        )

    def solve(self) -> None:
        """Each symbol by the first size that equals it, else by one that is linear in it."""
        for alone in (True, False):
            for number_, value in enumerate(self.values):
                line = linear(value) if isinstance(value, Expression) else None
                if line is None or (alone and line[1:] != (1, 0)):
                    continue
                text = f"d{number_}" if alone else f"((d{number_} - {line[2]})//{line[1]})"
                self._by_symbol.setdefault(line[0], text)

    def key(self, expression: Expression) -> Expression:
        """The key of an expression."""
        return expression

    def symbols_of(self, expression: Expression) -> list[str]:
        """torch's names of the symbols in an expression."""
        return sorted(expression.symbols)

    def is_symbol(self, expression: Expression) -> bool:
        """Whether it is a single symbol."""
        return expression.is_symbol

    def range_of(self, expression: Expression) -> tuple[int | None, int | None] | None:
        """The ends of its range, None for an open one; None where the program keeps no range."""
        return self._ranges.get(expression)

    def of_symbols(self, expression: int | Expression) -> Formula:
        """The formula of an expression; empty where it has none."""
        known = number(expression) if isinstance(expression, int) else expression

        def resolve(name: str) -> Formula | None:
            return [name] if name[:1] == "d" and name[1:].isdigit() else None

        return _compiled(printed(known, self._by_symbol), resolve)

    def of_guard(self, code: str) -> tuple[Formula, str]:
        """The formula of a guard that travels with the program, and its text in user's terms."""
        shown: dict[str, SizeInput] = {}

        def resolve(text: str) -> Formula | None:
            place = source_place(text, self._paths)
            known = self._by_place.get((place.path, place.position)) if place else None
            if known is None:
                return None
            shown[text] = self.inputs[known]
            return [f"d{known}"]

        return _compiled(code, resolve), guard_text(code, shown)

    def _example(self, value: int | Expression) -> int:
        if isinstance(value, int):
            return value
        found = value_of(value, self._symbols.examples)
        return found if isinstance(found, int) else 2


def _compiled(text: str, resolve: Any) -> Formula:
    if len(text) > limits.FORMULA_CHARACTERS:
        return []
    try:
        return compile_formula(text, resolve)
    except NoFormula:
        return []
