"""Linear constraints on whole numbers: whether it is certain that no numbers fulfil all of them.

The first half of Pugh's Omega test ("The Omega test: a fast and practical integer programming
algorithm", 1991): equalities are eliminated exactly, inequalities by Fourier and Motzkin, each
rounded to whole numbers. Its answer "impossible" is certain, but it does not find every impossible
case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from math import gcd

from export_engine.sizes.expression import Expression

Linear = tuple[Mapping[str, int], int]
"""A sum of multiples of named numbers, none of them 0, and a number."""

_MOST = 400
"""Inequalities after a step; with more of them, none is called impossible."""


class _Impossible(Exception):
    """No numbers fulfil the constraints."""


def add_linear(one: Linear, other: Linear, factor: int = 1) -> tuple[dict[str, int], int]:
    """One sum and a multiple of another."""
    scales = dict(one[0])
    for name, scale in other[0].items():
        scales[name] = scales.get(name, 0) + factor * scale
    return {name: scale for name, scale in scales.items() if scale}, one[1] + factor * other[1]


def linear(expression: Expression) -> Linear | None:
    """An expression as a sum of multiples of symbols and a number; None if it is not one.

    Symbols that cancel out are left out: `a - a + 2` is `({}, 2)`.
    """
    if expression.is_symbol:
        return {expression.name: 1}, 0
    if expression.is_number:
        return ({}, expression.value) if isinstance(expression.value, int) else None
    if expression.kind not in ("Add", "Mul"):
        return None
    total: Linear = ({}, int(expression.kind == "Mul"))
    for argument in expression.args:
        pair = linear(argument)
        if pair is None or (expression.kind == "Mul" and total[0] and pair[0]):
            return None
        if expression.kind == "Add":
            total = add_linear(total, pair)
        else:
            sized, plain = (total, pair) if total[0] else (pair, total)
            total = add_linear(({}, 0), sized, plain[1])
    return total


def is_impossible(zero: Iterable[Linear], least_zero: Iterable[Linear]) -> bool:
    """Whether no whole numbers fulfil all constraints, as far as can be proved.

    Args:
        zero: sums that are 0.
        least_zero: sums that are 0 or more.
    """
    try:
        left = _tight(_without_equalities(list(zero), list(least_zero)))
        while equal := _equal(left):
            left = _tight(_without_equalities(equal, left))
        while left and len(left) <= _MOST:
            left = _tight(_without_one(left))
    except _Impossible:
        return True
    return False


def _without_equalities(zero: list[Linear], least_zero: list[Linear]) -> list[Linear]:
    """The inequalities in terms of numbers that are free."""
    fresh = count()
    while zero:
        scales, offset = _reduce(zero.pop())
        if not scales:
            continue
        name = min(scales, key=lambda each: abs(scales[each]))
        scale = scales[name]
        rest = {other: number for other, number in scales.items() if other != name}
        if abs(scale) == 1:
            by: Linear = {other: -scale * number for other, number in rest.items()}, -scale * offset
        else:
            # What is left over of the others is smaller than the smallest scale was.
            new = f"={next(fresh)}={name}"
            whole = {other: -(number // scale) for other, number in rest.items() if number // scale}
            by = {new: 1, **whole}, -(offset // scale)
            zero.append((scales, offset))
        zero = [_substitute(pair, name, by) for pair in zero]
        least_zero = [_substitute(pair, name, by) for pair in least_zero]
    return least_zero


def _reduce(zero: Linear) -> Linear:
    """An equality divided by what its scales share."""
    scales, offset = zero
    shared = gcd(*scales.values())
    if offset % shared if shared else offset:
        raise _Impossible
    return {name: scale // shared for name, scale in scales.items()}, offset // (shared or 1)


def _substitute(where: Linear, name: str, by: Linear) -> Linear:
    scales, offset = where
    if name not in scales:
        return where
    rest = {other: scale for other, scale in scales.items() if other != name}
    return add_linear((rest, offset), by, scales[name])


def _tight(least_zero: Iterable[Linear]) -> list[Linear]:
    """Inequalities rounded to whole numbers; of those with the same scales, the strictest."""
    entries: dict[frozenset[tuple[str, int]], int] = {}
    for scales, offset in least_zero:
        shared = gcd(*scales.values())
        if not shared:
            if offset < 0:
                raise _Impossible
            continue
        key = frozenset((name, scale // shared) for name, scale in scales.items())
        entries[key] = min(entries.get(key, offset // shared), offset // shared)
    return [(dict(key), offset) for key, offset in entries.items()]


def _equal(least_zero: Iterable[Linear]) -> list[Linear]:
    """The sums that are 0 or more and 0 or less."""
    offsets = {frozenset(scales.items()): offset for scales, offset in least_zero}
    pairs: list[Linear] = []
    for key, offset in offsets.items():
        opposite = offsets.get(frozenset((name, -number) for name, number in key))
        if opposite is not None and opposite == -offset:
            pairs.append((dict(key), offset))
    return pairs


def _without_one(least_zero: list[Linear]) -> list[Linear]:
    """Constraints on the others, after eliminating the number that is easiest to eliminate."""

    def sides(name: str) -> tuple[list[Linear], list[Linear]]:
        with_it = [pair for pair in least_zero if name in pair[0]]
        lower = [pair for pair in with_it if pair[0][name] > 0]
        return lower, [pair for pair in with_it if pair[0][name] < 0]

    names = {name: None for scales, _ in least_zero for name in scales}
    name = min(names, key=lambda each: len(sides(each)[0]) * len(sides(each)[1]))
    lower, upper = sides(name)
    kept = [pair for pair in least_zero if name not in pair[0]]
    for low in lower:
        for high in upper:
            times, other = -high[0][name], low[0][name]
            scaled = {text: times * scale for text, scale in low[0].items()}, times * low[1]
            kept.append(add_linear(scaled, high, other))
    return kept
