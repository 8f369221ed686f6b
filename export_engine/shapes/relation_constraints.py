"""Relations of sizes as linear constraints: whether it is certain that they never hold together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import product
from math import prod

from export_engine.shapes.expressions import Relation
from export_engine.sizes import Expression, Linear, add_linear, is_impossible, linear

_MOST_CASES = 64
"""Ways in which all of `a != b` and `min(a, b)` can hold; further ones are left out."""
_SIGNS = (1, -1)


def never_hold(relations: Iterable[Relation], sizes: Iterable[str]) -> bool:
    """Whether it is certain that no numbers fulfil all relations.

    Args:
        relations: of any numbers.
        sizes: the names of those that are 0 or more.
    """
    constraints = _Constraints(sizes)
    for relation in relations:
        constraints.add(relation)
    constraints.close()
    return all(
        is_impossible(constraints.zero, [*constraints.least_zero, *case])
        for case in product(*constraints.choices)
    )


class _Constraints:
    """Relations as linear constraints; what is not linear has a name and what is known of it."""

    def __init__(self, sizes: Iterable[str]) -> None:
        self.zero: list[Linear] = []
        self.least_zero: list[Linear] = [({name: 1}, 0) for name in sizes]
        self.choices: list[list[Linear]] = []
        """In each pair, one is 0 or more: `a != b` is `a < b` or `a > b`."""
        self._named: dict[tuple[object, ...], Linear] = {}
        self._rests: list[tuple[Linear, Linear]] = []
        self._products: list[tuple[Linear, Linear, Linear]] = []

    def add(self, relation: Relation) -> None:
        """Takes in a relation."""
        try:
            apart = add_linear(self._sum(relation.left), self._sum(relation.right), -1)
        except ZeroDivisionError:
            self._at_least(({}, -1))  # it has no value, so the program rejects the call
            return
        match relation.operator:
            case "==":
                self.zero.append(apart)
            case ">=" | ">" as sign:
                self._at_least(apart, int(sign == ">"))
            case "<=" | "<" as sign:
                self._at_least(_negate(apart), int(sign == "<"))
            case _:
                self._one_of([add_linear(({}, -1), apart, sign) for sign in _SIGNS])

    def close(self) -> None:
        """Takes in what the ends of numbers say of their rests and products."""
        for by, rest in self._rests:
            for sign in _SIGNS:
                divisor = _times(by, sign)
                least = self._least(divisor)
                if least is not None and least >= 0:
                    # It is not 0, or the program rejects the call.
                    self._at_least(divisor, 1)
                    self._at_least(_times(rest, sign))
                    self._at_least(add_linear(divisor, rest, -sign), 1)
        for one, other, pair in self._products:
            for sign, turned in product(_SIGNS, _SIGNS):
                # (sign*one - end)*(turned*other - last) is 0 or more: McCormick's inequalities
                end, last = self._least(_times(one, sign)), self._least(_times(other, turned))
                if end is None or last is None:
                    continue
                value = add_linear(_times(pair, sign * turned), one, -sign * last)
                self._at_least(add_linear(value, other, -turned * end), -end * last)

    def _least(self, value: Linear) -> int | None:
        """The least value of a sum, as the ends of each number in it say."""
        total = value[1]
        for name, scale in value[0].items():
            sign = 1 if scale > 0 else -1
            alone = [-pair[1] for pair in self.least_zero if pair[0] == {name: sign}]
            alone += [
                -sign * pair[1] * pair[0][name]
                for pair in self.zero
                if pair[0] in ({name: 1}, {name: -1})
            ]
            if not alone:
                return None
            total += abs(scale) * max(alone)
        return total

    def _at_least(self, value: Linear, least: int = 0) -> None:
        self.least_zero.append(add_linear(value, ({}, -least)))

    def _one_of(self, cases: list[Linear]) -> None:
        if prod(map(len, [cases, *self.choices])) <= _MOST_CASES:
            self.choices.append(cases)

    def _sum(self, expression: Expression) -> Linear:
        if not expression.args:
            pair = linear(expression)
            assert pair is not None
            return pair
        parts = map(self._sum, expression.args)
        return reduce(lambda one, other: self._combine(expression.kind, one, other), parts)

    def _combine(self, kind: str, one: Linear, other: Linear) -> Linear:
        match kind:
            case "Add":
                return add_linear(one, other)
            case "Mul" if not one[0]:
                return _times(other, one[1])
            case "Mul" if not other[0]:
                return _times(one, other[1])
            case "Mul":
                return self._product(one, other)
            case "Min" | "Max":
                return self._end(kind, one, other)
        return self._divide(kind, one, other)

    def _name(self, *what: object) -> tuple[Linear, bool]:
        """A number of its own, the same for the same, and whether it is new."""
        key = tuple(_key(value) if isinstance(value, tuple) else value for value in what)
        new = key not in self._named
        pair: Linear = {f"#{len(self._named)}": 1}, 0
        return self._named.setdefault(key, pair), new

    def _product(self, one: Linear, other: Linear) -> Linear:
        first, second = sorted((one, other), key=lambda each: str(_key(each)))
        pair, new = self._name("*", first, second)
        if new:
            self._products.append((first, second, pair))
        return pair

    def _divide(self, kind: str, one: Linear, by: Linear) -> Linear:
        """The quotient or the rest: what is divided is `by * quotient + rest`."""
        if not by[0] and not by[1]:
            raise ZeroDivisionError
        if one == by:
            quotient: Linear = {}, 1
            rest: Linear = {}, 0
        else:
            quotient = self._name("//", one, by)[0]
            whole = self._product(quotient, by) if by[0] else _times(quotient, by[1])
            rest = add_linear(one, whole, -1)
        self._rests.append((by, rest))
        return quotient if kind == "FloorDiv" else rest

    def _end(self, kind: str, one: Linear, other: Linear) -> Linear:
        """The least or the greatest of two."""
        pair, new = self._name(kind, one, other)
        if new:
            factor = 1 if kind == "Min" else -1
            for end in (one, other):
                self._at_least(_times(add_linear(end, pair, -1), factor))
            self._one_of([_times(add_linear(pair, row, -1), factor) for row in (one, other)])
        return pair


def _times(value: Linear, factor: int) -> Linear:
    return add_linear(({}, 0), value, factor)


def _negate(value: Linear) -> Linear:
    return _times(value, -1)


def _key(value: tuple[object, ...]) -> object:
    scales, offset = value
    assert isinstance(scales, dict)
    return tuple(sorted(scales.items())), offset
