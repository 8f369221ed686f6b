"""Solves a condition on one size: the sizes at which it does not hold, by residue.

Among the sizes `period*k + residue`, floor divisions and remainders by numbers are polynomials in
`k`, so that every part of a condition is a few pieces, each an interval of `k` with a polynomial. A
comparison cuts them where its sides cross. Nothing is enumerated, and the cost does not depend on
the sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor, lcm
from typing import NamedTuple

from export_engine.record import Formula

Pieces = list[tuple[int, int | None]]
"""Intervals of whole numbers, both ends within; None: without end."""
Number = int | Fraction
Poly = tuple[Number, ...]
"""Coefficients, the constant first; none at the end is 0."""

_MOST_POINTS = 512
"""How many values of a divisor that depends on the size are enumerated."""
_HIGHEST_DEGREE = 4
_LARGEST_POWER = 64
"""The largest exponent of a power of a number."""


class Unsolved(Exception):
    """There is no exact answer for a condition."""


class _Refine(Exception):
    """The period must be this many times as long."""

    def __init__(self, factor: int) -> None:
        self.factor = factor


class _Piece(NamedTuple):
    low: int
    high: int | None
    value: Poly | None
    """None where the value is undefined, as after a division by zero."""


def solved_by_residue(formula: Formula, most: int) -> list[Pieces]:
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
            return [_ruled_out(formula, period, residue) for residue in range(period)]
        except _Refine as longer:
            period *= longer.factor
    raise Unsolved


def _ruled_out(formula: Formula, period: int, residue: int) -> Pieces:
    found = []
    for low, high, value in _evaluated(formula, period, residue):
        if value is None or not value:
            top = None if high is None else period * high + residue
            found.append((period * low + residue, top))
        elif len(value) > 1:
            raise Unsolved  # a number, where a condition is expected
    return found


def _evaluated(formula: Formula, period: int, residue: int) -> list[_Piece]:
    stack: list[list[_Piece]] = []
    for token in formula:
        if not isinstance(token, str):
            stack.append([_Piece(0, None, _poly(_number(token)))])
        elif token in _UNARY:
            stack.append([part for each in stack.pop() for part in _UNARY[token](each)])
        elif token in _BINARY:
            other, one = stack.pop(), stack.pop()
            stack.append([part for low, high, a, b in _overlaps(one, other)
                          for part in _applied(token, low, high, a, b)])  # fmt: skip
        elif token[:1] == "d" and token[1:].isdigit():
            stack.append([_Piece(0, None, _poly(residue, period))])
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


def _applied(
    token: str, low: int, high: int | None, one: Poly | None, other: Poly | None
) -> list[_Piece]:
    if one is None or other is None:
        return [_Piece(low, high, None)]
    return _BINARY[token](low, high, one, other)


def _number(value: Number | float) -> Number:
    """As an int where it is whole: they are far quicker."""
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact


def _poly(*coefficients: Number) -> Poly:
    end = len(coefficients)
    while end and not coefficients[end - 1]:
        end -= 1
    if end > _HIGHEST_DEGREE + 1:
        raise Unsolved
    return coefficients[:end]


def _plus(one: Poly, other: Poly, sign: int = 1) -> Poly:
    size = max(len(one), len(other))
    a, b = (each + (0,) * (size - len(each)) for each in (one, other))
    return _poly(*(x + sign * y for x, y in zip(a, b, strict=True)))


def _times(one: Poly, other: Poly) -> Poly:
    found: list[Number] = [0] * max(len(one) + len(other) - 1, 0)
    for at, x in enumerate(one):
        for by, y in enumerate(other):
            found[at + by] += x * y
    return _poly(*found)


def _at(poly: Poly, number: int) -> Number:
    value: Number = 0
    for each in reversed(poly):
        value = value * number + each
    return value


def _floor(poly: Poly) -> Poly:
    """Rounded down: only the constant is, once all else is whole."""
    factor = lcm(*(each.denominator for each in poly[1:]))
    if factor > 1:
        raise _Refine(factor)
    return _poly(floor(poly[0]), *poly[1:]) if poly else poly


Operation = Callable[[int, "int | None", Poly, Poly], list[_Piece]]


def _whole(make: Callable[[Poly, Poly], Poly]) -> Operation:
    return lambda low, high, one, other: [_Piece(low, high, make(one, other))]


def _divided(make: Callable[[Poly, Number], Poly]) -> Operation:
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
            for part in divide(number, number, _poly(_at(one, number)), _poly(_at(other, number)))
        ]

    return divide


def _small_by_large(make: Callable[[Poly, Number], Poly], rest: bool) -> Operation:
    """A floor division, or its remainder, which is plain where a number is divided by a larger."""
    divide = _divided(make)

    def applied(low: int, high: int | None, one: Poly, other: Poly) -> list[_Piece]:
        if len(other) != 2 or len(one) > 1 or other[1] < 0 or (one and one[0] < 0):
            return divide(low, high, one, other)
        border = max(low, floor(Fraction(_at(one, 0) - other[0]) / other[1]) + 1)
        if _at(other, border) <= _at(one, 0):
            border += 1
        parts = divide(low, border - 1, one, other) if border > low else []
        if high is None or border <= high:
            parts.append(_Piece(border, high, one if rest else ()))
        return [each for each in parts if high is None or each.high is None or each.high <= high]

    return applied


def _compared(holds: Callable[[int], bool]) -> Operation:
    def compare(low: int, high: int | None, one: Poly, other: Poly) -> list[_Piece]:
        parts = _signs(_plus(one, other, -1), low, high)
        return [_Piece(start, end, _truth(holds(sign))) for start, end, sign in parts]

    return compare


def _chosen(holds: Callable[[int], bool]) -> Operation:
    """The first of two where the sign of their difference is right, else the second."""

    def choose(low: int, high: int | None, one: Poly, other: Poly) -> list[_Piece]:
        parts = _signs(_plus(one, other, -1), low, high)
        return [_Piece(start, end, one if holds(sign) else other) for start, end, sign in parts]

    return choose


def _truth(value: bool) -> Poly:
    return (1,) if value else ()


def _signs(poly: Poly, low: int, high: int | None) -> list[tuple[int, int | None, int]]:
    """The sign of a polynomial: intervals, each with -1, 0 or 1."""
    if len(poly) <= 1:
        return [(low, high, _sign(_at(poly, 0)))]
    # Cauchy: no root is beyond
    bound = floor(1 + max(abs(Fraction(each) / poly[-1]) for each in poly[:-1])) + 1
    found: list[tuple[int, int | None, int]] = []
    end = max(low, bound) if high is None else high
    steps = _plus(_shifted(poly), poly, -1)
    for start, stop, _ in _signs(steps, low, end - 1) if end > low else [(low, low, 0)]:
        assert stop is not None
        found += _monotone(poly, start, min(stop + 1, end))
    if high is None:
        found.append((end + 1, None, _sign(poly[-1])))
    return _joined(found)


def _shifted(poly: Poly) -> Poly:
    """The polynomial of k + 1."""
    found: Poly = ()
    for each in reversed(poly):
        found = _plus(_times(found, (1, 1)), _poly(each))
    return found


def _monotone(poly: Poly, low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """Between two numbers where a polynomial only rises, or only falls."""
    while low <= high:
        sign = _sign(_at(poly, low))
        inside, outside = low, high + 1
        while outside - inside > 1:
            middle = (inside + outside) // 2
            if _sign(_at(poly, middle)) == sign:
                inside = middle
            else:
                outside = middle
        yield low, inside, sign
        low = inside + 1


def _joined(
    found: list[tuple[int, int | None, int]],
) -> list[tuple[int, int | None, int]]:
    """Intervals that share an end, or a sign, put together."""
    joined: list[tuple[int, int | None, int]] = []
    for start, high, sign in found:
        before = joined[-1][1] if joined else None
        low = start if before is None else max(start, before + 1)
        if high is not None and low > high:
            continue
        if joined and joined[-1][2] == sign:
            joined[-1] = (joined[-1][0], high, sign)
        else:
            joined.append((low, high, sign))
    return joined


def _sign(value: Number) -> int:
    return (value > 0) - (value < 0)


def _power(one: Poly, other: Poly) -> Poly:
    exponent = other[0] if other else 0
    highest = _HIGHEST_DEGREE if len(one) > 1 else _LARGEST_POWER
    if len(other) > 1 or exponent.denominator > 1 or not 0 <= exponent <= highest:
        raise Unsolved
    found: Poly = (1,)
    for _ in range(int(exponent)):
        found = _times(found, one)
    return found


def _over(one: Poly, number: Number) -> Poly:
    return _poly(*(_number(Fraction(each) / number) for each in one))


def _remainder(one: Poly, number: Number) -> Poly:
    return _plus(one, _times(_floor(_over(one, number)), (number,)), -1)


_BINARY: dict[str, Operation] = {
    "+": _whole(_plus),
    "-": _whole(lambda one, other: _plus(one, other, -1)),
    "*": _whole(_times),
    "**": _whole(_power),
    "/": _divided(_over),
    "//": _small_by_large(lambda one, number: _floor(_over(one, number)), rest=False),
    "%": _small_by_large(_remainder, rest=True),
    "min": _chosen(lambda sign: sign < 0),
    "max": _chosen(lambda sign: sign > 0),
    "and": _chosen(lambda sign: sign < 0),
    "or": _chosen(lambda sign: sign > 0),
    "==": _compared(lambda sign: sign == 0),
    "!=": _compared(lambda sign: sign != 0),
    "<": _compared(lambda sign: sign < 0),
    "<=": _compared(lambda sign: sign <= 0),
    ">": _compared(lambda sign: sign > 0),
    ">=": _compared(lambda sign: sign >= 0),
}
"""`and` and `or` are of truth values, 0 or 1, as conditions have them."""


def _each(make: Callable[[Poly], Poly]) -> Callable[[_Piece], list[_Piece]]:
    return lambda piece: [piece._replace(value=None if piece.value is None else make(piece.value))]


def _negative(poly: Poly) -> Poly:
    return _plus((), poly, -1)


def _absolute(piece: _Piece) -> list[_Piece]:
    if piece.value is None:
        return [piece]
    return [
        _Piece(low, high, piece.value if sign >= 0 else _negative(piece.value))
        for low, high, sign in _signs(piece.value, piece.low, piece.high)
    ]


def _denied(piece: _Piece) -> list[_Piece]:
    if piece.value is None:
        return [piece]
    parts = _signs(piece.value, piece.low, piece.high)
    return [_Piece(low, high, _truth(sign == 0)) for low, high, sign in parts]


_UNARY: dict[str, Callable[[_Piece], list[_Piece]]] = {
    "neg": _each(_negative),
    "not": _denied,
    "abs": _absolute,
    "floor": _each(_floor),
    "ceil": _each(lambda poly: _negative(_floor(_negative(poly)))),
    "float": _each(lambda poly: poly),
}
