"""An Expression as a list in postfix order: symbols and numbers, and what to do with them.

Its text and its formula are both made of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from export_engine.sizes import limits
from export_engine.sizes.expression import (
    CALLED,
    Expression,
    is_negative,
    number,
    order_terms,
    strip_minus,
)

Step = Expression | tuple[str, int]
"""A symbol, a number that is not negative, or an operator and how many values it takes."""
_BETWEEN = {
    "Or": "or",
    "And": "and",
    "Equality": "==",
    "Unequality": "!=",
    "StrictLessThan": "<",
    "LessThan": "<=",
    "StrictGreaterThan": ">",
    "GreaterThan": ">=",
    "BitwiseFn_bitwise_and": "&",
    "BitwiseFn_bitwise_or": "|",
    "BitwiseFn_bitwise_xor": "^",
    "Mul": "*",
    "FloorDiv": "//",
    "CleanDiv": "//",
    "Mod": "%",
    "PythonMod": "%",
    "IntTrueDiv": "/",
    "FloatTrueDiv": "/",
    "Rational": "/",
    "Pow": "**",
    "PowByNatural": "**",
    "FloatPow": "**",
    "Max": "max",
    "Min": "min",
}
"""The operator between two values."""


def postfix(expression: Expression) -> list[Step]:
    """The steps to its value."""
    args = expression.args
    match expression.kind:
        case "symbol":
            return [expression]
        case "number":
            negative = is_negative(expression)
            return [strip_minus(expression), ("neg", 1)] if negative else [expression]
        case "Add":
            first, *terms = order_terms(args)
            steps = postfix(first)
            for term in terms:
                sign = "-" if is_negative(term) else "+"
                steps += [*postfix(strip_minus(term) if sign == "-" else term), (sign, 2)]
            return steps
        case "Mul" if is_negative(expression):
            plain = strip_minus(expression)
            first, *rest = plain.args if plain.kind == "Mul" else (plain,)
            return _chain("*", [[*postfix(first), ("neg", 1)], *map(postfix, rest)])
        case "Pow" if args[1].is_number and isinstance(args[1].value, int) and args[1].value >= 0:
            base, times = postfix(args[0]), args[1].value
            if len(base) * times <= limits.CHARACTERS:
                return _chain("*", [base] * times) if times else [number(1)]
        case "Not":
            return [*postfix(args[0]), ("not", 1)]
        case "Identity":
            return postfix(args[0])
        case "ModularIndexing":
            size, divisor, modulus = args
            whole = size if divisor == number(1) else Expression("FloorDiv", (size, divisor))
            return postfix(Expression("Mod", (whole, modulus)))
        case "Piecewise":
            return _cases(args)
    parts = list(map(postfix, args))
    if expression.kind in _BETWEEN:
        return _chain(_BETWEEN[expression.kind], parts)
    called = CALLED.get(expression.kind, expression.kind)
    return [*(step for part in parts for step in part), (called, len(parts))]


def _chain(sign: str, parts: Iterable[list[Step]]) -> list[Step]:
    first, *rest = parts
    steps = [*first]
    for part in rest:
        steps += [*part, (sign, 2)]
    return steps


def _cases(cases: Iterable[Expression]) -> list[Step]:
    """`a if c else b if d else 0`, by the steps to a, c and the rest."""
    first, *rest = cases
    value, condition = first.args if first.kind == "ExprCondPair" else (first, number(1))
    if not rest or (condition.is_number and condition.value == 1):
        return postfix(value)
    return [*postfix(value), *postfix(condition), *_cases(rest), ("if", 3)]
