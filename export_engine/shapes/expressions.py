"""Sizes and relations as the short language writes them: `2*seq + 1`, `seq % 16 == 0`.

`expression_text` and `relation_text` write what the language's parser reads. Values are as in
Python: `//` rounds down, `%` has the sign of the divisor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Any

from export_engine.record import TURNED
from export_engine.shapes.errors import ShapesError
from export_engine.shapes.names import check_name, check_size
from export_engine.sizes import (
    Condition,
    Expression,
    add_linear,
    compile_condition,
    linear,
    make_expression,
    name_symbol,
    negate,
    number,
    order_terms,
    print_size,
    substitute,
)

KINDS = {"+": "Add", "*": "Mul", "//": "FloorDiv", "%": "Mod", "min": "Min", "max": "Max"}
"""The kind of expression that each operator makes; `-` makes a sum."""
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_DEEPEST = 40
"""Nesting of operations; deeper ones are rejected."""


def name_size(name: str) -> Expression:
    """The size of a name.

    Raises:
        ShapesError: the name is not valid.
    """
    check_name(name)
    return name_symbol(name)


def combine(sign: str, left: Expression | int, right: Expression | int) -> Expression:
    """Two expressions joined by an operator: `+`, `-`, `*`, `//`, `%`, `min` or `max`.

    Raises:
        ShapesError: it is another operator, or the expression is too deep.
    """
    one, other = _expression(left), _expression(right)
    if sign == "-":
        return combine("+", one, negate(other))
    if sign not in KINDS:
        raise ShapesError(f"`{sign}` is not an operator for sizes: {' '.join(['-', *KINDS])}")
    check_numbers(one, other)
    kind, parts = KINDS[sign], [one, other]
    if sign in ("+", "min", "max"):  # `min(min(a, b), c)` is `min(a, b, c)`
        parts = [p for part in parts for p in (part.args if part.kind == kind else (part,))]
    if sign == "+":  # as it is printed
        parts = [*order_terms(tuple(parts))]
    expression = make_expression(kind, tuple(parts))
    if expression.depth > _DEEPEST:
        raise ShapesError("this expression is nested too deeply")
    return expression


def _expression(given: Expression | int) -> Expression:
    return number(given) if isinstance(given, int) else given


OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}
"""For each comparison, the one that holds where it does not."""


@dataclass(frozen=True)
class Relation:
    """A relation of sizes that holds on every call: `seq % 16 == 0`, `a + b <= 512`.

    A number is on its right: `512 >= a + b` is `a + b <= 512`.
    """

    operator: str
    left: Expression
    right: Expression

    def __init__(self, operator: str, left: Expression | int, right: Expression | int) -> None:
        one, other = _expression(left), _expression(right)
        if operator not in COMPARISONS:
            raise ShapesError(f"`{operator}` is not a comparison: == != <= >= < >")
        check_numbers(one, other)
        if not one.symbols and not other.symbols:
            text = f"{expression_text(one)} {operator} {expression_text(other)}"
            raise ShapesError(f"`{text}` mentions no size; an assumption must mention at least one")
        if one.is_number:
            one, other, operator = other, one, TURNED[operator]
        for name, value in (("operator", operator), ("left", one), ("right", other)):
            object.__setattr__(self, name, value)

    @property
    def said(self) -> Hashable:
        """A canonical form: the same for `a < b` and `b >= a + 1`."""
        one, other = linear(self.left), linear(self.right)
        if one is None or other is None:
            turned = (TURNED[self.operator], self.right, self.left)
            return min((self.operator, self.left, self.right), turned, key=str)
        scales, offset = add_linear(one, other, -1)
        sign = self.operator
        if sign in ("==", "!="):
            factor = -1 if next((scales[name] for name in sorted(scales)), 1) < 0 else 1
            divisor = gcd(offset, *scales.values()) or 1
        else:
            factor = -1 if sign in (">", ">=") else 1
            offset += factor * (sign in ("<", ">"))
            sign, divisor = "<=", gcd(*scales.values()) or 1
        parts = frozenset((name, factor * scale // divisor) for name, scale in scales.items())
        return sign, parts, -(-factor * offset // divisor)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in it, each once, in order of mention."""
        return tuple(dict.fromkeys((*self.left.symbols, *self.right.symbols)))

    @property
    def condition(self) -> Condition:
        """It as a condition on the sizes that it names, in their order."""
        return _compile(self)

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether it holds for these sizes; False where it has no value, as by a zero divisor."""
        return self.condition(*[sizes[name] for name in self.names])

    def __str__(self) -> str:
        return relation_text(self)


@lru_cache(maxsize=1024)
def _compile(relation: Relation) -> Condition:
    """A name may have characters that formulas lack, so each size goes by its number."""
    by = {name: name_symbol(f"d{at}") for at, name in enumerate(relation.names)}
    sides = (expression_text(substitute(side, by)) for side in (relation.left, relation.right))
    return compile_condition(f" {relation.operator} ".join(sides), *(d.name for d in by.values()))


def check_numbers(*expressions: Expression) -> None:
    """Raises ShapesError for a number larger than any size."""
    for expression in expressions:
        if expression.is_number:
            check_size(abs(int(expression.value)))


def expression_text(expression: Expression, calls: Mapping[str, str] | None = None) -> str:
    """The text of an expression: `2*seq + 1`, `(a + b) // 2`, `min(1, seq)`.

    Args:
        expression: any.
        calls: what `min` and `max` are called; others than Python's own take two values.
    """
    return print_size(expression, {}, calls or {})


def relation_text(relation: Relation, calls: Mapping[str, str] | None = None) -> str:
    """The text of a relation: `seq % 16 == 0`."""
    left, right = (expression_text(item, calls) for item in (relation.left, relation.right))
    return f"{left} {relation.operator} {right}"
