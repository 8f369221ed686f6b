"""The value of an expression, or a line in its one symbol."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from export_engine.sizes import limits
from export_engine.sizes.expression import Expression, Number
from export_engine.sizes.linear_constraints import linear

_POWERS = ("Pow", "PowByNatural", "FloatPow")


def value_of(
    expression: Expression,
    symbols: Mapping[str, Any],
    functions: Mapping[str, Callable[[list[Any]], Any]] | None = None,
) -> Any:
    """The value of an expression.

    Args:
        expression: of sums, products, quotients, remainders, and the least and greatest of sizes.
        symbols: values by name: numbers, or whatever the functions take.
        functions: what to do instead of Python's own arithmetic, by the kind of expression.

    Raises:
        ArithmeticError, ValueError: it has no value, as with a divisor that is 0.
        LookupError: a symbol has no value, or something in it is not arithmetic.
    """
    if expression.is_number:
        return expression.value
    if expression.is_symbol:
        return symbols[expression.name]
    values = [value_of(argument, symbols, functions) for argument in expression.args]
    return (functions or ARITHMETIC)[expression.kind](values)


def evaluate_size(expression: Expression, symbols: Mapping[str, int]) -> Number | None:
    """The value for values of its symbols; None if one is missing, or it is not arithmetic.

    No number on the way is larger than a size can be, so that it takes no time, whatever it is.
    """
    try:
        value: Number = value_of(expression, symbols, _BOUNDED)
    except (ArithmeticError, ValueError, LookupError):
        return None
    return value


def has_tower(expression: Expression) -> bool:
    """Whether there is a power in the base or the exponent of another: `9**9**9`."""
    if expression.kind in _POWERS:
        return any(_has_power(argument) for argument in expression.args)
    return any(has_tower(argument) for argument in expression.args)


def _has_power(expression: Expression) -> bool:
    return expression.kind in _POWERS or any(_has_power(argument) for argument in expression.args)


def real_power(base: Number, exponent: Number) -> Number:
    """A power that is a real number.

    Raises:
        ArithmeticError, ValueError: there is none: a root of a negative number is complex.
    """
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("a root of a negative number")
    return result


def _power(values: list[Number]) -> Number:
    base, exponent = values
    if not 0 <= exponent <= limits.COMPUTED_POWER:
        raise ValueError("a power that is not computed")
    return real_power(base, exponent)


ARITHMETIC: dict[str, Callable[[list[Any]], Any]] = {
    "Add": lambda values: reduce(operator.add, values),
    "Mul": lambda values: reduce(operator.mul, values),
    "FloorDiv": lambda values: values[0] // values[1],
    "CleanDiv": lambda values: values[0] // values[1],
    "CeilDiv": lambda values: -(-values[0] // values[1]),
    "Mod": lambda values: values[0] % values[1],
    "PythonMod": lambda values: values[0] % values[1],
    "ModularIndexing": lambda values: values[0] // values[1] % values[2],
    "Max": max,
    "Min": min,
    "Pow": _power,
    "PowByNatural": _power,
    "Identity": lambda values: values[0],
}
"""The operation of each kind of expression on the values of its parts."""


def _limit(function: Callable[[list[Number]], Number]) -> Callable[[list[Number]], Number]:
    def apply(values: list[Number]) -> Number:
        if any(abs(value) > limits.INTEGER for value in values):
            raise OverflowError
        result = function(values)
        if abs(result) > limits.INTEGER:
            raise OverflowError
        return result

    return apply


_BOUNDED = {kind: _limit(function) for kind, function in ARITHMETIC.items()}


def find_line(expression: Expression) -> tuple[str, int, int] | None:
    """An expression of one symbol as `scale * symbol + offset`, scale 1 or more; else None."""
    pair = linear(expression) if len(expression.symbols) == 1 else None
    if pair is None or not pair[0]:
        return None
    ((symbol, scale),), offset = pair[0].items(), pair[1]
    if scale < 1 or max(scale, abs(offset)) > limits.INTEGER:
        return None
    return symbol, scale, offset
