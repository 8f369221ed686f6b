"""Relations as one would write them: `h % 8 == 0` for `(8 - h % 8) % 8 == 0`.

Code computes what is missing to a multiple, and torch asks about that. What it says of the size is
said with one remainder. Of strides torch asks with the fixed sizes as a factor: `32*h != 128` is
`h != 4`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from export_engine.shapes import (
    Expression,
    Operation,
    Relation,
    ShapesError,
    Size,
    relation_text,
    relations_of,
)
from export_engine.sizes import Linear, add_linear

_IS_ZERO = {("==", 0), ("<=", 0), ("<", 1)}
_IS_NOT_ZERO = {("!=", 0), (">", 0), (">=", 1)}
"""What is asked of a remainder, which is never negative where its divisor is positive."""


def plainly(relation: Relation) -> Relation:
    """The relation, or the same with one remainder, or no factor, on its left."""
    match relation.left:
        case Operation("%", inner, int(divisor)) if divisor > 1:
            pass
        case Operation("*", int(factor), inner) | Operation("*", inner, int(factor)):
            return _without(factor, inner, relation)
        case _:
            return relation
    asked = (relation.operator, relation.right)
    sign = "==" if asked in _IS_ZERO else "!=" if asked in _IS_NOT_ZERO else ""
    pair = _modulo(inner, divisor) if sign else None
    if pair is None:
        return relation
    scales = {name: rest for name, scale in pair[0].items() if (rest := scale % divisor)}
    if not scales:
        return relation
    offset = pair[1] % divisor
    if 2 * next(iter(scales.values())) > divisor:  # -h is a multiple where h is
        scales = {name: divisor - scale for name, scale in scales.items()}
        offset = -offset % divisor
    left = _sum(scales, divisor)
    return Relation(sign, Operation("%", left, divisor), -offset % divisor)


def _without(factor: int, inner: Expression, relation: Relation) -> Relation:
    """`inner` against the right side divided by the factor, where that is a whole number."""
    right = relation.right
    if not isinstance(right, int) or factor < 1 or right % factor:
        return relation
    return Relation(relation.operator, inner, right // factor)


def _modulo(expression: Expression, divisor: int) -> Linear | None:
    """A sum of sizes with the same remainder; None if it is not one."""
    match expression:
        case Operation("%", inner, int(other)) if other and other % divisor == 0:
            return _modulo(inner, divisor)
        case Operation("+" | "-" as sign, left, right):
            one, other_one = _modulo(left, divisor), _modulo(right, divisor)
            if one is None or other_one is None:
                return None
            return add_linear(one, other_one, 1 if sign == "+" else -1)
        case Operation("*", int(factor), inner) | Operation("*", inner, int(factor)):
            pair = _modulo(inner, divisor)
            return None if pair is None else add_linear(({}, 0), pair, factor)
        case Size(name):
            return {name: 1}, 0
        case int():
            return {}, expression
    return None


def _sum(scales: Mapping[str, int], divisor: int) -> Expression:
    """`a + b - 2*c`, with factors no larger than half the divisor."""
    result: Expression | None = None
    for name, scale in scales.items():
        sign, factor = ("-", divisor - scale) if 2 * scale > divisor and result else ("+", scale)
        part: Expression = Size(name) if factor == 1 else Operation("*", factor, Size(name))
        result = part if result is None else Operation(sign, result, part)
    assert result is not None
    return result


def plain_text(condition: Any, names: Mapping[str, str]) -> str | None:
    """The text of a condition that is said more plainly so; None where torch's form is as plain.

    Args:
        condition: a sympy boolean.
        names: what to call each of its symbols, by torch's name of it.
    """
    symbols = sorted(condition.free_symbols, key=str)
    if any(str(symbol) not in names for symbol in symbols):
        return None
    try:
        asked = list(relations_of(condition, {s: Size(f"d{n}") for n, s in enumerate(symbols)}))
    except ShapesError:
        return None
    relations = [plainly(relation) for relation in asked]
    if relations == asked:
        return None
    text = " and ".join(map(relation_text, relations))
    return re.sub(r"\bd(\d+)\b", lambda found: names[str(symbols[int(found[1])])], text)
