"""Solves a condition on one size: the sizes at which it does not hold, by residue.

Among the sizes `period*k + residue`, floor divisions and remainders by numbers are polynomials in
`k`, so that every part of a condition is a few pieces, each an interval of `k` with a polynomial. A
comparison cuts them where its sides cross. Nothing is enumerated, and the cost does not depend on
the sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor
from typing import NamedTuple

from export_engine.sizes.formula import Formula
from export_engine.sizes.polynomials import (
    Number,
    Poly,
    Refine,
    Unsolved,
    exact,
    floor_of,
    negative,
    over,
    plus,
    poly_of,
    power,
    remainder,
    signs,
    times,
    value_at,
)

Pieces = list[tuple[int, int | None]]
"""Intervals of whole numbers, both ends within; None: without end."""

_MOST_POINTS = 512
"""How many values of a divisor that depends on the size are enumerated."""


class _Piece(NamedTuple):
    low: int
    high: int | None
    value: Poly | None
    """None where the value is undefined, as after a division by zero."""


def solve_by_residue(formula: Formula, most: int) -> list[Pieces]:
    """Per residue, the sizes that a condition rules out, among those with that residue.

    Args:
        formula: a condition on the size `d0`.
        most: the longest period.

    Raises:
        Unsolved: it has no exact answer, or a longer period.
    """
    period = 1
    while period <= most:
        try:
            return [_find_excluded(formula, period, residue) for residue in range(period)]
        except Refine as longer:
            period *= longer.factor
    raise Unsolved


def _find_excluded(formula: Formula, period: int, residue: int) -> Pieces:
    pairs = []
    for low, high, value in _evaluate(formula, period, residue):
        if value is None or not value:
            top = None if high is None else period * high + residue
            pairs.append((period * low + residue, top))
        elif len(value) > 1:
            raise Unsolved  # a number, where a condition is expected
    return pairs


def _evaluate(formula: Formula, period: int, residue: int) -> list[_Piece]:
    stack: list[list[_Piece]] = []
    for token in formula:
        if not isinstance(token, str):
            stack.append([_Piece(0, None, poly_of(exact(token)))])
        elif token in _UNARY:
            stack.append([part for piece in stack.pop() for part in _UNARY[token](piece)])
        elif token in _BINARY:
            other, one = stack.pop(), stack.pop()
            stack.append([part for low, high, a, b in _overlaps(one, other)
                          for part in _apply(token, low, high, a, b)])  # fmt: skip
        elif token[:1] == "d" and token[1:].isdigit():
            stack.append([_Piece(0, None, poly_of(residue, period))])
        else:
            raise Unsolved
    return stack[0]


def _overlaps(
    one: list[_Piece], other: list[_Piece]
) -> Iterator[tuple[int, int | None, Poly | None, Poly | None]]:
    for a in one:
        for b in other:
            low = max(a.low, b.low)
            high = b.high if a.high is None else a.high if b.high is None else min(a.high, b.high)
            if high is None or low <= high:
                yield low, high, a.value, b.value


def _apply(
    token: str, low: int, high: int | None, one: Poly | None, other: Poly | None
) -> list[_Piece]:
    if one is None or other is None:
        return [_Piece(low, high, None)]
    return _BINARY[token](low, high, one, other)


Operation = Callable[[int, "int | None", Poly, Poly], list[_Piece]]


def _whole(make: Callable[[Poly, Poly], Poly]) -> Operation:
    return lambda low, high, one, other: [_Piece(low, high, make(one, other))]


def _make_division(make: Callable[[Poly, Number], Poly]) -> Operation:
    """A division; by a polynomial it is gone through number by number, as far as that goes."""

    def divide(low: int, high: int | None, one: Poly, other: Poly) -> list[_Piece]:
        if len(other) <= 1:
            value = make(one, other[0]) if other else None
            return [_Piece(low, high, value)]
        if high is None or high - low > _MOST_POINTS:
            raise Unsolved
        return [
            part
            for number in range(low, high + 1)
            for part in divide(
                number, number, poly_of(value_at(one, number)), poly_of(value_at(other, number))
            )
        ]

    return divide


def _small_by_large(make: Callable[[Poly, Number], Poly], rest: bool) -> Operation:
    """A floor division, or its remainder, which is plain where a number is divided by a larger."""
    divide = _make_division(make)

    def apply(low: int, high: int | None, one: Poly, other: Poly) -> list[_Piece]:
        if len(other) != 2 or len(one) > 1 or other[1] < 0 or (one and one[0] < 0):
            return divide(low, high, one, other)
        border = max(low, floor(Fraction(value_at(one, 0) - other[0]) / other[1]) + 1)
        if value_at(other, border) <= value_at(one, 0):
            border += 1
        parts = divide(low, border - 1, one, other) if border > low else []
        if high is None or border <= high:
            parts.append(_Piece(border, high, one if rest else ()))
        return [
            piece for piece in parts if high is None or piece.high is None or piece.high <= high
        ]

    return apply


def _make_comparison(holds: Callable[[int], bool]) -> Operation:
    def compare(low: int, high: int | None, one: Poly, other: Poly) -> list[_Piece]:
        parts = signs(plus(one, other, -1), low, high)
        return [_Piece(start, end, _truth(holds(sign))) for start, end, sign in parts]

    return compare


def _make_choice(holds: Callable[[int], bool]) -> Operation:
    """The first of two where the sign of their difference is right, else the second."""

    def choose(low: int, high: int | None, one: Poly, other: Poly) -> list[_Piece]:
        parts = signs(plus(one, other, -1), low, high)
        return [_Piece(start, end, one if holds(sign) else other) for start, end, sign in parts]

    return choose


def _truth(value: bool) -> Poly:
    return (1,) if value else ()


_BINARY: dict[str, Operation] = {
    "+": _whole(plus),
    "-": _whole(lambda one, other: plus(one, other, -1)),
    "*": _whole(times),
    "**": _whole(power),
    "/": _make_division(over),
    "//": _small_by_large(lambda one, number: floor_of(over(one, number)), rest=False),
    "%": _small_by_large(remainder, rest=True),
    "min": _make_choice(lambda sign: sign < 0),
    "max": _make_choice(lambda sign: sign > 0),
    "and": _make_choice(lambda sign: sign < 0),
    "or": _make_choice(lambda sign: sign > 0),
    "==": _make_comparison(lambda sign: sign == 0),
    "!=": _make_comparison(lambda sign: sign != 0),
    "<": _make_comparison(lambda sign: sign < 0),
    "<=": _make_comparison(lambda sign: sign <= 0),
    ">": _make_comparison(lambda sign: sign > 0),
    ">=": _make_comparison(lambda sign: sign >= 0),
}
"""`and` and `or` are of truth values, 0 or 1, as conditions have them."""


def _each(make: Callable[[Poly], Poly]) -> Callable[[_Piece], list[_Piece]]:
    return lambda piece: [piece._replace(value=None if piece.value is None else make(piece.value))]


def _absolute(piece: _Piece) -> list[_Piece]:
    if piece.value is None:
        return [piece]
    return [
        _Piece(low, high, piece.value if sign >= 0 else negative(piece.value))
        for low, high, sign in signs(piece.value, piece.low, piece.high)
    ]


def _negate(piece: _Piece) -> list[_Piece]:
    if piece.value is None:
        return [piece]
    parts = signs(piece.value, piece.low, piece.high)
    return [_Piece(low, high, _truth(sign == 0)) for low, high, sign in parts]


_UNARY: dict[str, Callable[[_Piece], list[_Piece]]] = {
    "neg": _each(negative),
    "not": _negate,
    "abs": _absolute,
    "floor": _each(floor_of),
    "ceil": _each(lambda poly: negative(floor_of(negative(poly)))),
    "float": _each(lambda poly: poly),
}
