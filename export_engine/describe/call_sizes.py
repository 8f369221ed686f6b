"""The input sizes of a program, numbered, and formulas over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from export_engine.describe.symbol_names import Symbols
from export_engine.record import Formula, NoFormula, SizeInput, compile_formula, guard_text
from export_engine.shapes import InputPlace, birth_dims, source_place
from export_engine.torch_internals import (
    ProgramSource,
    expression_of,
    int_bound,
    linear_in,
    replaced_sizes,
    shape_env,
    size_hint,
    symbol_printer,
)


class CallSizes:
    """Every size of every user input of a program, by number: `d0`, `d1`, ..."""

    def __init__(self, program: ProgramSource, paths: Sequence[str], symbols: Symbols) -> None:
        self._program = program
        self._paths = paths
        self._symbols = symbols
        self._ranges = {str(key): bounds for key, bounds in program.range_constraints.items()}
        self.inputs: list[SizeInput] = []
        self.values: list[Any] = []
        """Per size, the number or sympy expression that the program has for it."""
        self._by_place: dict[tuple[str, int], int] = {}
        self._by_symbol: dict[str, str] = {}
        """Per torch's name of a symbol, its value as Python text over sizes."""
        self._read()
        self._print = symbol_printer(self._by_symbol)

    def _read(self) -> None:
        values = {node.name: node.meta.get("val") for node in self._program.graph.nodes}
        user = iter(self._paths)
        for entry, spec in enumerate(self._program.graph_signature.input_specs):
            if spec.kind.name != "USER_INPUT":
                continue
            path = next(user, spec.arg.name)
            value = values.get(spec.arg.name)
            if isinstance(value, torch.Tensor):
                for dim, size in enumerate(value.shape):
                    self._add(entry, dim, path, size)
            elif isinstance(value, int | torch.SymInt) and not isinstance(value, bool):
                self._add(entry, -1, path, value)
        self._solve()

    def _add(self, entry: int, dim: int, path: str, size: Any) -> None:
        expression = size if isinstance(size, int) else expression_of(size)
        number = None if isinstance(size, int) else self._symbols.size(size)
        if isinstance(number, int):
            expression = number
        place = InputPlace(path, dim)
        self._by_place[path, dim] = len(self.inputs)
        self.values.append(expression)
        line = self._line(expression)
        self.inputs.append(
            SizeInput(
                entry,
                dim,
                str(place),
                self._example(expression),
                number if number is not None else size,
                symbol=self._symbols.number(line[0]) if line else -1,
                scale=line[1] if line else 1,
                offset=line[2] if line else 0,
            )
        )

    def _line(self, expression: Any) -> tuple[Any, int, int] | None:
        free: set[Any] = getattr(expression, "free_symbols", set())
        if len(free) != 1:
            return None
        (symbol,) = free
        line = linear_in(expression, symbol)
        return (symbol, *line) if line else None

    def _example(self, expression: Any) -> int:
        found = size_hint(self._program, expression)
        return 2 if found is None else found

    def _solve(self) -> None:
        """Each symbol by the first size that equals it, else by one that is linear in it."""
        for wanted in (1, 2):
            for number, (value, size) in enumerate(zip(self.values, self.inputs, strict=True)):
                line = self._line(value)
                if line is None or (wanted == 1 and line[1:] != (1, 0)):
                    continue
                text = f"d{number}" if wanted == 1 else f"((d{number} - {line[2]})//{line[1]})"
                self._by_symbol.setdefault(str(line[0]), text)
                assert size.symbol >= 0

    def key(self, expression: Any) -> str:
        """The key of an expression."""
        return str(expression)

    def symbols_of(self, expression: Any) -> list[str]:
        """torch's names of the symbols in an expression."""
        return [str(each) for each in expression.free_symbols]

    def is_symbol(self, expression: Any) -> bool:
        """Whether it is a single symbol."""
        return bool(expression.is_Symbol)

    def range_of(self, expression: Any) -> tuple[int | None, int | None] | None:
        """The ends of its range, None for an open one; None where the program keeps no range."""
        bounds = self._ranges.get(str(expression))
        return None if bounds is None else (int_bound(bounds.lower), int_bound(bounds.upper))

    def of_symbols(self, expression: Any) -> Formula:
        """The formula of a sympy expression over the program's symbols; empty where it has none."""
        return self._compile(self._print(expression))

    def as_asked(self, births: Any, condition: Any) -> Formula:
        """The formula of a condition over the symbols that tracing began with."""
        names = dict(self._by_symbol)
        for symbol, place in birth_dims(births, self._paths).items():
            number = self._by_place.get((place.path, place.position))
            if number is not None:
                names[symbol] = f"d{number}"
        return self._compile(symbol_printer(names)(condition))

    def simplified(self, condition: Any) -> Formula:
        """The formula of a condition, with equal symbols substituted."""
        return self.of_symbols(replaced_sizes(shape_env(self._program), condition))

    def of_guard(self, code: str) -> tuple[Formula, str]:
        """The formula of a guard that travels with the program, and its text in user's terms."""
        shown: dict[str, SizeInput] = {}

        def resolve(text: str) -> Formula | None:
            place = source_place(text, self._paths)
            number = self._by_place.get((place.path, place.position)) if place else None
            if number is None:
                return None
            shown[text] = self.inputs[number]
            return [f"d{number}"]

        try:
            formula = compile_formula(code, resolve)
        except NoFormula:
            formula = []
        return formula, guard_text(code, shown)

    def _compile(self, text: str) -> Formula:
        def resolve(name: str) -> Formula | None:
            return [name] if name[:1] == "d" and name[1:].isdigit() else None

        try:
            return compile_formula(text, resolve)
        except NoFormula:
            return []
