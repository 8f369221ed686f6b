"""The rules that follow from the sizes of a program's inputs. It imports no torch.

A number fixes a size; equal expressions make sizes equal; a range bounds a size; an expression of
another size derives it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Protocol

from export_engine.record import Formula, Rule, SizeInput, Symbol, sizes_in

_UNCHECKED = 2
"""Sizes of 0 and 1 pass torch's input guards even where the range begins at 2."""


class Sizes(Protocol):
    """The input sizes, and the expressions that a program has for them."""

    inputs: list[SizeInput]
    values: list[Any]
    """Per size a number, or an expression."""

    def key(self, expression: Any) -> Hashable:
        """The key of an expression."""

    def symbols_of(self, expression: Any) -> list[str]:
        """torch's names of the symbols in an expression."""

    def is_symbol(self, expression: Any) -> bool:
        """Whether it is a single symbol."""

    def range_of(self, expression: Any) -> tuple[int | None, int | None] | None:
        """The ends of its range, None for an open one; None where the program keeps no range."""

    def of_symbols(self, expression: Any) -> Formula:
        """Its formula; empty where it has none."""


def contract_rules(sizes: Sizes, symbols: Sequence[Symbol], asked: Sequence[Rule]) -> list[Rule]:
    """All of them.

    Args:
        sizes: of the program's inputs.
        symbols: its symbols, described.
        asked: the rules that code asked for.
    """
    return [*_fixed(sizes), *_ranged(sizes, symbols), *_formed(sizes, asked)]


def _fixed(sizes: Sizes) -> Iterator[Rule]:
    for number, size in enumerate(sizes.inputs):
        if isinstance(size.size, int):
            yield Rule("fixed", f"{size.text} == {size.size}", [f"d{number}", size.size, "=="])


def _ranged(sizes: Sizes, symbols: Sequence[Symbol]) -> Iterator[Rule]:
    """Equal dims and bounds, per expression in the order of the inputs, as torch checks them."""
    first: dict[Hashable, int] = {}
    for number, (value, size) in enumerate(zip(sizes.values, sizes.inputs, strict=True)):
        bounds = None if isinstance(value, int) else sizes.range_of(value)
        if bounds is None:
            continue
        at, key = f"d{number}", sizes.key(value)
        if key in first:
            other = first[key]
            text = f"{size.text} == {sizes.inputs[other].text}"
            yield Rule("equal", text, [at, f"d{other}", "=="])
            continue
        first[key] = number
        low, high = bounds
        unbacked = size.symbol >= 0 and symbols[size.symbol].kind == "unbacked"
        if low is not None and low > (0 if unbacked and size.dim >= 0 else 1):
            origin = _bound(symbols, size, "lower")
            text = f"{size.text} >= {low}"
            enforced = unbacked or low > _UNCHECKED
            yield Rule("range", text, [at, low, ">="], *origin, enforced=enforced)
        if high is not None:
            origin = _bound(symbols, size, "upper")
            yield Rule("range", f"{size.text} <= {high}", [at, high, "<="], *origin)


def _bound(symbols: Sequence[Symbol], size: SizeInput, side: str) -> tuple[int, int]:
    """The guard that a bound comes from."""
    if size.symbol < 0 or (size.scale, size.offset) != (1, 0):
        return -1, -1
    bounds = symbols[size.symbol].bounds
    return next(((each.guard, -1) for each in bounds if each.side == side), (-1, -1))


def _formed(sizes: Sizes, asked: Sequence[Rule]) -> Iterator[Rule]:
    """Dims that are made from another's size, `2*seq + 1`.

    torch refuses others only by a guard of that form, or where a second such dim tells the symbol.
    """
    tied = {
        size for rule in asked if rule.formula[-1:] == ["=="] for size in sizes_in(rule.formula)
    }
    known = {
        sizes.symbols_of(value)[0]
        for value in sizes.values
        if not isinstance(value, int) and sizes.is_symbol(value)
    }
    seen: dict[str, Hashable] = {}
    for number, (value, size) in enumerate(zip(sizes.values, sizes.inputs, strict=True)):
        free = [] if isinstance(value, int) else sizes.symbols_of(value)
        if len(free) != 1 or sizes.is_symbol(value):
            continue
        (symbol,) = free
        again = symbol in seen and seen[symbol] != sizes.key(value)
        enforced = (again and symbol not in known) or number in tied
        seen.setdefault(symbol, sizes.key(value))
        formula = [f"d{number}", *sizes.of_symbols(value), "=="]
        yield Rule("form", f"{size.text} == {size.size}", formula, enforced=enforced)
