"""Sizes and conditions as trees of numbers, symbols and functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from export_engine.sizes import limits

Number = int | float
OPAQUE = (
    *("sqrt", "exp", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh"),
)
"""Functions that torch keeps sympy from evaluating: `OpaqueUnaryFn_sqrt`."""
CALLED = {
    "Max": "max",
    "Min": "min",
    "Abs": "abs",
    "FloorToInt": "math.floor",
    "floor": "math.floor",
    "CeilToInt": "math.ceil",
    "ceiling": "math.ceil",
    "TruncToInt": "math.trunc",
    "TruncToFloat": "math.trunc",
    "RoundToInt": "round",
    "RoundDecimal": "round",
    "ToFloat": "float",
    **{f"OpaqueUnaryFn_{name}": f"math.{name}" for name in OPAQUE},
}
"""Names of functions in Python; of several kinds of one name, the first is read."""


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
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols in it, each once, in order of mention."""
        if self.is_symbol:
            return (self.name,)
        return tuple(dict.fromkeys(name for part in self.args for name in part.symbols))

    @cached_property
    def depth(self) -> int:
        """How many functions are nested in it."""
        return 1 + max(part.depth for part in self.args) if self.args else 0

    @cached_property
    def size(self) -> int:
        """How many numbers, symbols and functions its text has."""
        return 1 + sum(part.size for part in self.args)

    @cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.args, self.value, self.name))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Expression], tuple[object, ...]]:
        """Without its hash, which differs from process to process."""
        return Expression, (self.kind, self.args, self.value, self.name)


def number(value: Number) -> Expression:
    """A number."""
    return Expression("number", value=value)


def name_symbol(name: str) -> Expression:
    """The symbol of a name."""
    return Expression("symbol", name=name)


def make_expression(kind: str, args: tuple[Expression, ...]) -> Expression:
    """A function of values; sums, products and minus signs are simplified.

    Raises:
        UnreadableError: a power is too large.
    """
    if kind in ("Add", "Mul"):
        flat: list[Expression] = []
        for argument in args:
            flat.extend(argument.args if argument.kind == kind else (argument,))
        if kind == "Mul" and len(flat) > 1 and _is_small(flat[0]) and _is_small(flat[1]):
            factor = number(flat[0].value * flat[1].value)
            flat[:2] = [factor] if _is_small(factor) else flat[:2]
        if kind == "Mul" and len(flat) > 1 and flat[0] == number(1):
            del flat[0]
        if len(flat) == 1:
            return flat[0]
        args = tuple(flat)
    if kind in ("Pow", "PowByNatural") and args[1].is_number and abs(args[1].value) > limits.POWER:
        raise UnreadableError(f"a power of {args[1].value}")
    return Expression(kind, args)


def _is_small(item: Expression) -> bool:
    return item.is_number and isinstance(item.value, int) and abs(item.value) <= limits.INTEGER


def negate(expression: Expression) -> Expression:
    """The expression times -1."""
    return make_expression("Mul", (number(-1), expression))


def is_negative(expression: Expression) -> bool:
    """Whether it is written with a minus sign first: -3, `-2*a`."""
    first = expression.args[0] if expression.kind in ("Mul", "Rational") else expression
    return first.is_number and first.value < 0


def strip_minus(expression: Expression) -> Expression:
    """A term that is written with a minus sign, without it."""
    if expression.is_number:
        return number(-expression.value)
    first, *rest = expression.args
    if expression.kind == "Mul" and first.value == -1:
        return rest[0] if len(rest) == 1 else Expression("Mul", tuple(rest))
    return Expression(expression.kind, (number(-first.value), *rest))


def order_terms(terms: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The terms of a sum as one would write them, `seq - 1`, `16 - seq`.

    Numbers are last, but a positive term is first.
    """
    ordered = sorted(terms, key=lambda term: term.kind in ("number", "Rational"))
    first = next((term for term in ordered if not is_negative(term)), ordered[0])
    ordered.remove(first)
    return first, *ordered


def substitute(expression: Expression, by: Mapping[str, Expression]) -> Expression:
    """The expression with symbols replaced by expressions, by their names."""
    if expression.is_symbol:
        return by.get(expression.name, expression)
    if not expression.args:
        return expression
    return make_expression(
        expression.kind, tuple(substitute(argument, by) for argument in expression.args)
    )
