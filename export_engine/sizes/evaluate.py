"""The value of an expression, or a line in its one symbol."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from export_engine.sizes import limits
from export_engine.sizes.expression import Expression, Number

_POWERS = ("Pow", "PowByNatural", "FloatPow")


def evaluate_size(expression: Expression, symbols: Mapping[str, int]) -> Number | None:
    """The value for values of its symbols; None if one is missing, or it is not arithmetic.

    Only sums, products, quotients and remainders; the result is bounded.
    """
    if expression.is_number:
        return expression.value
    if expression.is_symbol:
        return symbols.get(expression.name)
    numbers = [evaluate_size(argument, symbols) for argument in expression.args]
    values = [other_number for other_number in numbers if other_number is not None]
    if len(values) < len(numbers) or any(abs(value) > limits.INTEGER for value in values):
        return None
    try:
        number = _ARITHMETIC[expression.kind](values) if expression.kind in _ARITHMETIC else None
    except (ArithmeticError, ValueError):
        return None
    return number if number is None or abs(number) <= limits.INTEGER else None


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


_ARITHMETIC: dict[str, Callable[[list[Number]], Number]] = {
    "Add": sum,
    "Mul": math.prod,
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


def find_line(expression: Expression) -> tuple[str, int, int] | None:
    """An expression of one symbol as `scale * symbol + offset`, scale 1 or more; else None."""
    if len(expression.symbols) != 1:
        return None
    line = _line(expression)
    if line is None or line[0] < 1 or max(map(abs, line)) > limits.INTEGER:
        return None
    (symbol,) = expression.symbols
    return symbol, *line


def _line(expression: Expression) -> tuple[int, int] | None:
    if expression.is_symbol:
        return 1, 0
    if expression.is_number:
        return (0, expression.value) if isinstance(expression.value, int) else None
    parts = [_line(argument) for argument in expression.args]
    lines = [pair for pair in parts if pair is not None]
    if len(lines) < len(parts):
        return None
    if expression.kind == "Add":
        return sum(pair[0] for pair in lines), sum(pair[1] for pair in lines)
    if expression.kind != "Mul" or sum(pair[0] != 0 for pair in lines) > 1:
        return None
    scale, offset = 0, 1
    for line in lines:
        scale, offset = scale * line[1] + offset * line[0], offset * line[1]
        if max(abs(scale), abs(offset)) > limits.INTEGER:
            return None
    return scale, offset
