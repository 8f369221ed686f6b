"""Sizes and conditions as trees of numbers, symbols and functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

Number = int | float


class UnreadableError(ValueError):
    """A text that is not in the grammar, or exceeds the limits."""


@dataclass(frozen=True)
class Expression:
    """A number, a symbol, or a function of others."""

    kind: str
    """`number`, `symbol`, or sympy's name of the function: `Add`, `FloorDiv`, `Equality`."""
    args: tuple[Expression, ...] = ()
    value: Number = 0
    """The value of a number."""
    name: str = ""
    """The name of a symbol."""

    @property
    def is_symbol(self) -> bool:
        """Whether it is a single symbol."""
        return self.kind == "symbol"

    @property
    def is_number(self) -> bool:
        """Whether it is a single number."""
        return self.kind == "number"

    @cached_property
    def symbols(self) -> frozenset[str]:
        """torch's names of the symbols in it."""
        if self.is_symbol:
            return frozenset((self.name,))
        return frozenset().union(*(argument.symbols for argument in self.args))

    @cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.args, self.value, self.name))

    def __hash__(self) -> int:
        return self._hash


def number(value: Number) -> Expression:
    """A number."""
    return Expression("number", value=value)


def name_symbol(name: str) -> Expression:
    """The symbol of a name."""
    return Expression("symbol", name=name)
