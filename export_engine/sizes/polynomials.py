"""Exact polynomials of one whole number: arithmetic, floors, and where the sign changes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor, lcm

Number = int | Fraction
Poly = tuple[Number, ...]
"""Coefficients, the constant first; none at the end is 0."""

_HIGHEST_DEGREE = 4
_LARGEST_POWER = 64
"""The largest exponent of a power of a number."""


class Unsolved(Exception):
    """There is no exact answer for a condition."""


class Refine(Exception):
    """The period must be this many times as long."""

    def __init__(self, factor: int) -> None:
        self.factor = factor


def exact(value: Number | float) -> Number:
    """As an int where it is whole: they are far quicker."""
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact


def poly_of(*coefficients: Number) -> Poly:
    """The polynomial of some coefficients, the constant first.

    Raises:
        Unsolved: its degree is too high.
    """
    end = len(coefficients)
    while end and not coefficients[end - 1]:
        end -= 1
    if end > _HIGHEST_DEGREE + 1:
        raise Unsolved
    return coefficients[:end]


def plus(one: Poly, other: Poly, sign: int = 1) -> Poly:
    """The sum of two, or their difference with a sign of -1."""
    size = max(len(one), len(other))
    a, b = (group + (0,) * (size - len(group)) for group in (one, other))
    return poly_of(*(x + sign * y for x, y in zip(a, b, strict=True)))


def times(one: Poly, other: Poly) -> Poly:
    """The product of two."""
    items: list[Number] = [0] * max(len(one) + len(other) - 1, 0)
    for at, x in enumerate(one):
        for by, y in enumerate(other):
            items[at + by] += x * y
    return poly_of(*items)


def value_at(poly: Poly, number: int) -> Number:
    """The value at a number (Horner)."""
    value: Number = 0
    for item in reversed(poly):
        value = value * number + item
    return value


def floor_of(poly: Poly) -> Poly:
    """Rounded down: only the constant is, once all else is whole."""
    factor = lcm(*(item.denominator for item in poly[1:]))
    if factor > 1:
        raise Refine(factor)
    return poly_of(floor(poly[0]), *poly[1:]) if poly else poly


def signs(poly: Poly, low: int, high: int | None) -> list[tuple[int, int | None, int]]:
    """The sign of a polynomial: intervals, each with -1, 0 or 1."""
    if len(poly) <= 1:
        return [(low, high, _sign(value_at(poly, 0)))]
    # Cauchy: no root is beyond
    bound = floor(1 + max(abs(Fraction(item) / poly[-1]) for item in poly[:-1])) + 1
    items: list[tuple[int, int | None, int]] = []
    end = max(low, bound) if high is None else high
    steps = plus(_shift(poly), poly, -1)
    for start, stop, _ in signs(steps, low, end - 1) if end > low else [(low, low, 0)]:
        assert stop is not None
        items += _monotone(poly, start, min(stop + 1, end))
    if high is None:
        items.append((end + 1, None, _sign(poly[-1])))
    return _merge_intervals(items)


def _shift(poly: Poly) -> Poly:
    """The polynomial of k + 1."""
    result: Poly = ()
    for item in reversed(poly):
        result = plus(times(result, (1, 1)), poly_of(item))
    return result


def _monotone(poly: Poly, low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """Between two numbers where a polynomial only rises, or only falls."""
    while low <= high:
        sign = _sign(value_at(poly, low))
        inside, outside = low, high + 1
        while outside - inside > 1:
            middle = (inside + outside) // 2
            if _sign(value_at(poly, middle)) == sign:
                inside = middle
            else:
                outside = middle
        yield low, inside, sign
        low = inside + 1


def _merge_intervals(
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


def power(one: Poly, other: Poly) -> Poly:
    """One to the power of another, which must be a small whole number."""
    exponent = other[0] if other else 0
    highest = _HIGHEST_DEGREE if len(one) > 1 else _LARGEST_POWER
    if len(other) > 1 or exponent.denominator > 1 or not 0 <= exponent <= highest:
        raise Unsolved
    result: Poly = (1,)
    for _ in range(int(exponent)):
        result = times(result, one)
    return result


def over(one: Poly, number: Number) -> Poly:
    """Divided by a number, exactly."""
    return poly_of(*(exact(Fraction(item) / number) for item in one))


def remainder(one: Poly, number: Number) -> Poly:
    """The remainder of a floor division by a number."""
    return plus(one, times(floor_of(over(one, number)), (number,)), -1)


def negative(poly: Poly) -> Poly:
    """With the other sign."""
    return plus((), poly, -1)
