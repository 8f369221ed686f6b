"""torch's sympy expressions of sizes, as expressions and relations of the language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from export_engine.shapes.errors import ShapesError
from export_engine.shapes.expressions import (
    ARITHMETIC,
    COMPARISONS,
    Expression,
    Operation,
    Relation,
    Size,
)
from export_engine.torch_internals import split_expression


def relations_of(given: Any, names: Mapping[Any, Expression]) -> Iterator[Relation]:
    """A sympy boolean as relations, all of which hold.

    Args:
        given: a comparison, or several joined by `and`.
        names: what to call each of its symbols.

    Raises:
        ShapesError: it is something else, or has a symbol without a name.
    """
    sign, parts = split_expression(given)
    if sign == "and":
        for part in parts:
            yield from relations_of(part, names)
    elif sign in COMPARISONS:
        yield Relation(sign, *(expression_of_sizes(part, names) for part in parts))
    elif str(given) != "True":
        raise ShapesError(f"the assumption {given} is not a comparison of sizes")


def expression_of_sizes(given: Any, names: Mapping[Any, Expression]) -> Expression:
    """A sympy expression as one of named sizes.

    Raises:
        ShapesError: it has an operator that the language lacks, or a symbol without a name.
    """
    sign, parts = split_expression(given)
    if sign == "number":
        return int(parts[0])
    if sign == "symbol":
        result = names.get(parts[0])
        if result is None:
            text = str(parts[0]).partition("#")[0]
            raise ShapesError(
                f"no dim or int is {text} itself, so torch cannot solve for it; add one"
            )
        return result
    if sign not in ARITHMETIC:
        raise ShapesError(f"the size {given} cannot be written with {' '.join(ARITHMETIC)}")
    first, *others = [expression_of_sizes(part, names) for part in parts]
    for other in others:
        first = _join(sign, first, other)
    return first


def _join(sign: str, left: Expression, right: Expression) -> Expression:
    """Two parts of a sum or product, as one would write them: `b - a`, `8 - a`, `2*a`."""
    if sign == "+" and isinstance(left, int):
        left, right = right, left
    if sign == "+" and isinstance(right, int) and right < 0:
        return Operation("-", left, -right)
    if sign == "+" and isinstance(right, Operation) and (right.operator, right.left) == ("*", -1):
        return Operation("-", left, right.right)
    if sign == "+" and isinstance(left, Operation) and (left.operator, left.left) == ("*", -1):
        return Operation("-", right, left.right)
    return Operation(sign, left, right)


def plain_name(name: str) -> str:
    """A text as a name that the language takes."""
    text = re.sub(r"\W", "_", name)
    if not text.isidentifier():
        text = f"_{text}"
    try:
        Size(text)
    except ShapesError:
        text = f"{text}_"
    return text
