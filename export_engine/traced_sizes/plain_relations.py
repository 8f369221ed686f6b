"""Relations as one would write them: `h % 8 == 0` for `(8 - h % 8) % 8 == 0`.

Code computes what is missing to a multiple, and torch asks about that. The condition on the size
is written with one remainder. Of strides torch asks with the fixed sizes as a factor: `32*h != 128`
is `h != 4`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial, reduce
from typing import Any

from export_engine.shapes import (
    Relation,
    ShapesError,
    combine,
    name_size,
    read_relations,
    relation_text,
)
from export_engine.sizes import Expression, Linear, add_linear, linear, make_expression, number
from export_engine.torch_internals import read_sympy

_IS_ZERO = {("==", number(0)), ("<=", number(0)), ("<", number(1))}
_IS_NOT_ZERO = {("!=", number(0)), (">", number(0)), (">=", number(1))}
"""What is asked of a remainder, which is never negative where its divisor is positive."""


def plainly(relation: Relation) -> Relation:
    """The relation, or the same with one remainder, or no factor, on its left."""
    match relation.left:
        case Expression("Mod", (inner, Expression("number", value=divisor))) if divisor > 1:
            pass
        case Expression("Mul"):
            return _without_factor(relation)
        case _:
            return relation
    asked = (relation.operator, relation.right)
    sign = "==" if asked in _IS_ZERO else "!=" if asked in _IS_NOT_ZERO else ""
    pair = _modulo(inner, int(divisor)) if sign else None
    if pair is None:
        return relation
    by = int(divisor)
    scales = {name: rest for name, scale in pair[0].items() if (rest := scale % by)}
    if not scales:
        return relation
    offset = pair[1] % by
    if 2 * next(iter(scales.values())) > by:  # -h is a multiple where h is
        scales = {name: by - scale for name, scale in scales.items()}
        offset = -offset % by
    return Relation(sign, combine("%", _sum(scales, by), by), -offset % by)


def _without_factor(relation: Relation) -> Relation:
    """The rest of a product against the right side divided by its factor, where that is whole."""
    pair, right = _split_factor(relation.left), relation.right
    if pair is None or not right.is_number or pair[0] < 1 or right.value % pair[0]:
        return relation
    return Relation(relation.operator, pair[1], int(right.value) // pair[0])


def _split_factor(product: Expression) -> tuple[int, Expression] | None:
    """The one number in a product, and the rest of it."""
    numbers = [int(factor.value) for factor in product.args if factor.is_number]
    rest = tuple(factor for factor in product.args if not factor.is_number)
    return (numbers[0], make_expression("Mul", rest)) if len(numbers) == 1 and rest else None


def _modulo(expression: Expression, divisor: int) -> Linear | None:
    """A sum of sizes with the same remainder; None if it is not one."""
    match expression:
        case Expression("Mod", (inner, Expression("number", value=other))) if other:
            return _modulo(inner, divisor) if other % divisor == 0 else None
        case Expression("Add", terms):
            pairs = [_modulo(term, divisor) for term in terms]
            known = [pair for pair in pairs if pair is not None]
            return reduce(add_linear, known) if len(known) == len(pairs) else None
        case Expression("Mul") if (split := _split_factor(expression)) is not None:
            factor, rest = split
            pair = _modulo(rest, divisor)
            return None if pair is None else add_linear(({}, 0), pair, factor)
    return linear(expression)


def _sum(scales: Mapping[str, int], divisor: int) -> Expression:
    """`a + b - 2*c`, with factors no larger than half the divisor."""
    terms = [
        combine("*", scale - divisor if number and 2 * scale > divisor else scale, name_size(name))
        for number, (name, scale) in enumerate(scales.items())
    ]
    return reduce(partial(combine, "+"), terms)


def plain_text(condition: Any, names: Mapping[str, str]) -> str | None:
    """A plainer text of a condition; None if torch's form is as plain.

    Args:
        condition: a sympy boolean.
        names: what to call each of its symbols, by torch's name of it.
    """
    read = read_sympy(condition)
    symbols = sorted(read.symbols)
    if any(symbol not in names for symbol in symbols):
        return None
    try:
        asked = list(read_relations(read, {s: name_size(f"d{n}") for n, s in enumerate(symbols)}))
    except ShapesError:
        return None
    relations = [plainly(relation) for relation in asked]
    if relations == asked:
        return None
    text = " and ".join(map(relation_text, relations))
    return re.sub(r"\bd(\d+)\b", lambda found: names[symbols[int(found[1])]], text)
