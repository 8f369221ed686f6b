"""The sizes of an archive, and what the file tells of their symbols."""

from __future__ import annotations

from collections.abc import Mapping

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.describe import AnySize, Range
from export_engine.sizes import Expression, UnreadableError, find_line, parse_size

_INFINITE = 2**63 - 2
"""torch bounds a data-dependent number by the largest int that it can hold: no real bound."""


class Sizes:
    """Reads sizes, and learns on the way what their symbols are in the example."""

    def __init__(self) -> None:
        self.examples: dict[str, int] = {}
        """Values in the example inputs, by torch's names of symbols."""
        self.unreadable: list[str] = []
        """Texts that should be sizes but are not."""
        self._symbols: set[str] = set()
        self._shown: set[str] = set()

    def read(self, size: schema.Size) -> AnySize | float:
        """A size as a number, an expression, or the text to show for one that is unreadable."""
        if size.as_expr is None:
            for value in (size.as_int, size.as_bool):
                if value is not None:
                    return value
            if size.as_float is not None:
                return float(size.as_float)
            return self._unreadable("", "it has no value")
        text = size.as_expr.expr_str
        try:
            expression = parse_size(text)
        except UnreadableError as error:
            return self._unreadable(text, str(error))
        self._learn(expression, size.as_expr.hint)
        return expression

    def read_dim(self, size: schema.Size) -> AnySize:
        """A size or a stride of a tensor."""
        result = self.read(size)
        if isinstance(result, Expression):
            is_whole = result.is_number and isinstance(result.value, int)
            return result.value if is_whole else result  # type: ignore[return-value]
        return int(result) if isinstance(result, int) else str(result)

    def _unreadable(self, text: str, why: str) -> str:
        """The text shown for an unreadable size."""
        shown = f"unreadable size {text[:80]!r}"
        if shown not in self._shown:
            self._shown.add(shown)
            self.unreadable.append(f"{text[:80]!r}: {why}")
        return shown

    def _learn(self, expression: Expression, hint: Mapping[str, object] | None) -> None:
        """The example's value of a symbol, from a size that equals it or is linear in it."""
        self._symbols.update(expression.symbols)
        if len(self._symbols) > limits.SYMBOLS:
            raise ArchiveError(f"It has more than {limits.SYMBOLS:,} symbols.")
        value = (hint or {}).get("as_int")
        line = find_line(expression) if isinstance(value, int) else None
        if line is None or not isinstance(value, int) or abs(value) > limits.INTEGER:
            return
        symbol, scale, offset = line
        if (value - offset) % scale == 0:
            self.examples.setdefault(symbol, (value - offset) // scale)


def read_ranges(program: schema.ExportedProgram) -> dict[Expression, Range]:
    """The ranges that a program keeps, of symbols and of sizes that are made of them."""
    if len(program.range_constraints) > limits.SYMBOLS:
        raise ArchiveError(f"It has more than {limits.SYMBOLS:,} ranges.")
    result = {}
    for text, range_constraint in program.range_constraints.items():
        try:
            result[parse_size(text)] = (
                _end(range_constraint.min_val),
                _end(range_constraint.max_val),
            )
        except UnreadableError:
            continue
    return result


def _end(bound: int | None) -> int | None:
    return None if bound is None or abs(bound) >= _INFINITE else bound
