"""The input sizes of a program, numbered, and formulas over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from export_engine.describe.source import ProgramSource
from export_engine.describe.symbols import Symbols
from export_engine.describe.value_table import sizes_of
from export_engine.record import SizeInput, guard_names, guard_text, number_last
from export_engine.sizes import (
    Expression,
    Formula,
    UnreadableError,
    evaluate_size,
    find_line,
    make_expression,
    make_formula,
    name_symbol,
    number,
    parse_code,
    print_size,
    substitute,
)
from export_engine.traced_sizes import InputPlace, source_place

_UNKNOWN = 2
"""An example for a size of which none is known."""


class CallSizes:
    """Every size of every user input of a program, by number: `d0`, `d1`, ..."""

    def __init__(self, source: ProgramSource, paths: Sequence[str], symbols: Symbols) -> None:
        """Make one.

        Args:
            source: the program, whose graph has been read.
            paths: of its user inputs.
            symbols: of its Record.
        """
        self._source = source
        self._paths = paths
        self._symbols = symbols
        self.inputs: list[SizeInput] = []
        self.values: list[int | Expression] = []
        """Per size, the number or expression that the program has for it."""
        self._by_place: dict[tuple[str, int], int] = {}
        self._by_symbol: dict[str, Expression] = {}
        """Per torch's name of a symbol, its value over sizes."""
        user = iter(paths)
        for entry, input_row in enumerate(source.inputs):
            if input_row.kind != "user_input":
                continue
            path = next(user, input_row.name)
            for dim, size in sizes_of(input_row.value):
                if not isinstance(size, bool | str):
                    self._add(entry, dim, path, size)
        self._solve()

    def _add(self, entry: int, dim: int, path: str, value: int | Expression) -> None:
        place = InputPlace(path, dim)
        self._by_place[path, dim] = len(self.inputs)
        self.values.append(value)
        line = find_line(value) if isinstance(value, Expression) else None
        self.inputs.append(
            SizeInput(
                entry,
                dim,
                str(place),
                self._example(value),
                self._symbols.text(value) if isinstance(value, Expression) else value,
                symbol=self._symbols.number(line[0]) if line else -1,
                scale=line[1] if line else 1,
                offset=line[2] if line else 0,
            )
        )

    def _example(self, value: int | Expression) -> int:
        if isinstance(value, int):
            return value
        entries = {symbol: self._source.find_example(symbol) for symbol in value.symbols}
        examples = {text: size for text, size in entries.items() if size is not None}
        found = evaluate_size(value, examples)
        return found if isinstance(found, int) else _UNKNOWN

    def _solve(self) -> None:
        """Each symbol by the first size that equals it, else by one that is linear in it."""
        for alone in (True, False):
            for at, value in enumerate(self.values):
                line = find_line(value) if isinstance(value, Expression) else None
                if line is None or (alone and line[1:] != (1, 0)):
                    continue
                symbol, scale, offset = line
                solved = name_symbol(f"d{at}")
                if offset:
                    solved = make_expression("Add", (solved, number(-offset)))
                if scale > 1:
                    solved = make_expression("FloorDiv", (solved, number(scale)))
                self._by_symbol.setdefault(symbol, solved)

    def find_range(self, size: int | Expression) -> tuple[int | None, int | None] | None:
        """The ends of its range, None for an open one; None if the program keeps no range."""
        return self._source.ranges.get(size) if isinstance(size, Expression) else None

    def compile_size(
        self, size: int | Expression, born: Mapping[str, InputPlace] = MappingProxyType({})
    ) -> Formula:
        """The formula of a size or a condition; empty if it has none.

        Args:
            size: over the program's symbols.
            born: the input dims of symbols that tracing began with, which may have replaced them.
        """
        names = dict(self._by_symbol) if born else self._by_symbol
        for symbol, place in born.items():
            at = self._by_place.get((place.path, place.position))
            if at is not None:
                names[symbol] = name_symbol(f"d{at}")
        expression = number(size) if isinstance(size, int) else size
        if not names.keys() >= set(expression.symbols):
            return []
        try:
            return make_formula(substitute(expression, names))
        except UnreadableError:
            return []

    def compile_guard(self, code: str) -> tuple[Formula, str]:
        """The formula of a guard that travels with the program, and its text in user's terms."""
        sources: dict[str, SizeInput] = {}
        shown: dict[str, SizeInput] = {}

        def resolve(text: str) -> str | None:
            place = source_place(text, self._paths)
            known = self._by_place.get((place.path, place.position)) if place else None
            if known is None:
                return None
            sources[text] = shown[f"d{known}"] = self.inputs[known]
            return f"d{known}"

        if len(code) > self._source.most_characters:
            return [], guard_text(code, sources)
        try:
            expression = parse_code(code, resolve)
            formula = make_formula(expression)
        except UnreadableError:
            return [], guard_text(code, sources)
        return formula, number_last(print_size(expression, guard_names(shown)))
