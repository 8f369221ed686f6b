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
    known = [evaluate_size(each, symbols) for each in expression.args]
    values = [each for each in known if each is not None]
    if len(values) < len(known) or any(abs(each) > limits.INTEGER for each in values):
        return None
    try:
        found = _ARITHMETIC[expression.kind](values) if expression.kind in _ARITHMETIC else None
    except (ArithmeticError, ValueError):
        return None
    return found if found is None or abs(found) <= limits.INTEGER else None


def has_tower(expression: Expression) -> bool:
    """Whether there is a power in the base or the exponent of another: `9**9**9`."""
    if expression.kind in _POWERS:
        return any(_has_power(each) for each in expression.args)
    return any(has_tower(each) for each in expression.args)


def _has_power(expression: Expression) -> bool:
    return expression.kind in _POWERS or any(_has_power(each) for each in expression.args)


def real_power(base: Number, exponent: Number) -> Number:
    """A power that is a real number.

    Raises:
        ArithmeticError, ValueError: there is none: a root of a negative number is complex.
    """
    found = base**exponent
    if isinstance(found, complex):
        raise ValueError("a root of a negative number")
    return found


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
    parts = [_line(each) for each in expression.args]
    lines = [each for each in parts if each is not None]
    if len(lines) < len(parts):
        return None
    if expression.kind == "Add":
        return sum(each[0] for each in lines), sum(each[1] for each in lines)
    if expression.kind != "Mul" or sum(each[0] != 0 for each in lines) > 1:
        return None
    scale, offset = 0, 1
    for each in lines:
        scale, offset = scale * each[1] + offset * each[0], offset * each[1]
        if max(abs(scale), abs(offset)) > limits.INTEGER:
            return None
    return scale, offset
