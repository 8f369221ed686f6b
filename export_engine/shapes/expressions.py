"""Arithmetic on named sizes, and relations between such expressions: plain values, no torch.

`expression_text` and `relation_text` write what the language's parser reads. Values are as in
Python: `//` rounds down, `%` has the sign of the divisor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from export_engine.record import TURNED
from export_engine.shapes.errors import ShapesError
from export_engine.shapes.names import check_name, check_size
from export_engine.sizes import add_linear

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "min": min,
    "max": max,
}
FUNCTIONS = ("min", "max")
"""Those that are written as calls: `min(1, seq)`."""
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_WEAK, _STRONG, _ATOM = range(3)
"""Precedence levels of an expression's parts."""
_DEEPEST = 40
"""Nesting of operations; deeper ones are rejected."""


@dataclass(frozen=True)
class Size:
    """A size by its name."""

    name: str

    def __post_init__(self) -> None:
        check_name(self.name)


@dataclass(frozen=True)
class Operation:
    """Two expressions joined by an operator of `ARITHMETIC`."""

    operator: str
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        if self.operator not in ARITHMETIC:
            raise ShapesError(
                f"`{self.operator}` is not an operator for sizes: {' '.join(ARITHMETIC)}"
            )
        if depth(self) > _DEEPEST:
            raise ShapesError("this expression is nested too deeply")
        check_numbers(self.left, self.right)


Expression = int | Size | Operation
"""A whole number, a size, or an operation on them."""


OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}
"""Of each comparison, the one that holds where it does not."""


@dataclass(frozen=True)
class Relation:
    """A relation of sizes that holds on every call: `seq % 16 == 0`, `a + b <= 512`.

    A number stands on its right: `512 >= a + b` is `a + b <= 512`.
    """

    operator: str
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        if self.operator not in COMPARISONS:
            raise ShapesError(f"`{self.operator}` is not a comparison: == != <= >= < >")
        check_numbers(self.left, self.right)
        if not self.names:
            raise ShapesError(f"`{self}` mentions no size; an assumption must mention at least one")
        if isinstance(self.left, int):
            left, right = self.right, self.left
            object.__setattr__(self, "left", left)
            object.__setattr__(self, "right", right)
            object.__setattr__(self, "operator", TURNED[self.operator])

    @property
    def said(self) -> Hashable:
        """What it says: the same for `a < b` and `b >= a + 1`."""
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
    def names(self) -> dict[str, None]:
        """The names in it, in order of mention."""
        return {**names_in(self.left), **names_in(self.right)}

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether it holds for these sizes; False where it has no value, as by a zero divisor."""
        try:
            compare = COMPARISONS[self.operator]
            return bool(compare(value_of(self.left, sizes), value_of(self.right, sizes)))
        except ZeroDivisionError:
            return False

    def __str__(self) -> str:
        return relation_text(self)


def check_numbers(*expressions: Expression) -> None:
    """Raises ShapesError for a number larger than any size."""
    for expression in expressions:
        if isinstance(expression, int):
            check_size(abs(expression))


def names_in(expression: Expression) -> dict[str, None]:
    """The names in an expression, in order of mention."""
    match expression:
        case Size(name):
            return {name: None}
        case Operation(_, left, right):
            return {**names_in(left), **names_in(right)}
    return {}


def depth(expression: Expression) -> int:
    """How many operations are nested in an expression."""
    if not isinstance(expression, Operation):
        return 0
    return 1 + max(depth(expression.left), depth(expression.right))


def value_of(
    expression: Expression,
    sizes: Mapping[str, Any],
    arithmetic: Mapping[str, Callable[[Any, Any], Any]] = ARITHMETIC,
) -> Any:
    """The value of an expression.

    Args:
        expression: any.
        sizes: by name; whatever `arithmetic` takes.
        arithmetic: what each operator does.

    Raises:
        ZeroDivisionError: a divisor is 0.
        KeyError: a size is not given.
    """
    match expression:
        case Size(name):
            return sizes[name]
        case Operation(sign, left, right):
            one, other = value_of(left, sizes, arithmetic), value_of(right, sizes, arithmetic)
            return arithmetic[sign](one, other)
    return expression


def substitute(expression: Expression, by: Mapping[str, Expression]) -> Expression:
    """The expression with some sizes replaced by expressions."""
    match expression:
        case Size(name):
            return by.get(name, expression)
        case Operation(sign, left, right):
            return Operation(sign, substitute(left, by), substitute(right, by))
    return expression


def linear(expression: Expression) -> tuple[dict[str, int], int] | None:
    """An expression as a sum of multiples of sizes and a number; None if it is not one.

    Sizes that cancel out are left out: `a - a + 2` is `({}, 2)`.
    """
    match expression:
        case Size(name):
            return {name: 1}, 0
        case Operation("+" | "-" as sign, left, right):
            one, other = linear(left), linear(right)
            if one is None or other is None:
                return None
            return add_linear(one, other, 1 if sign == "+" else -1)
        case Operation("*", left, right):
            one, other = linear(left), linear(right)
            if one is None or other is None or (one[0] and other[0]):
                return None
            (scales, offset), factor = (one, other[1]) if one[0] else (other, one[1])
            return add_linear(({}, 0), (scales, offset), factor)
        case int():
            return {}, expression
    return None


_PLAIN_CALLS: Mapping[str, str] = {name: name for name in FUNCTIONS}


def expression_text(expression: Expression, calls: Mapping[str, str] = _PLAIN_CALLS) -> str:
    """The text of an expression: `2*seq + 1`, `(a + b) // 2`, `min(1, seq)`.

    Args:
        expression: any.
        calls: what each of `FUNCTIONS` is called.
    """
    return _text(expression, _WEAK, calls)


def relation_text(relation: Relation, calls: Mapping[str, str] = _PLAIN_CALLS) -> str:
    """The text of a relation: `seq % 16 == 0`."""
    left, right = (expression_text(item, calls) for item in (relation.left, relation.right))
    return f"{left} {relation.operator} {right}"


def _text(expression: Expression, least: int, calls: Mapping[str, str]) -> str:
    def part(inner: Expression, firmness: int) -> str:
        return _text(inner, firmness, calls)

    match expression:
        case Size(name):
            return name
        case Operation("+" | "-" as sign, left, right):
            text, firmness = f"{part(left, _WEAK)} {sign} {part(right, _STRONG)}", _WEAK
        case Operation("*", left, right):
            text, firmness = f"{part(left, _STRONG)}*{part(right, _ATOM)}", _STRONG
        case Operation(sign, left, right) if sign in FUNCTIONS:
            text, firmness = f"{calls[sign]}({part(left, _WEAK)}, {part(right, _WEAK)})", _ATOM
        case Operation(sign, left, right):
            text, firmness = f"{part(left, _STRONG)} {sign} {part(right, _ATOM)}", _STRONG
        case _:
            text, firmness = str(expression), _ATOM if expression >= 0 else _WEAK
    return f"({text})" if firmness < least else text
