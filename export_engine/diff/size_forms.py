"""The normal form of a size or a condition: equal for texts that say the same of all symbols."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable

from export_engine.record import TURNED
from export_engine.sizes import OPERATORS, Formula, UnreadableError, compile_formula

_MOST_TERMS = 200
_LARGEST_POWER = 8
_Polynomial = dict[tuple[Hashable, ...], int | float]
"""Per product of atoms, sorted, its factor."""


def size_form(text: str, never_negative: Collection[str] = ()) -> Hashable:
    """The normal form of a text of torch's about sizes.

    Products are multiplied out, sums sorted, and the least or largest of sizes decided where that
    is certain: `a*(b + 1)` is `b*a + a`, and `min(a, 2*a)` is `a`.

    Args:
        text: arithmetic or a comparison on names without dots or brackets.
        never_negative: names of sizes that are at least 0.

    Returns:
        The text itself, if it is neither or grows too large.
    """
    try:
        formula = compile_formula(text, lambda name: name)
        return _Forms(never_negative).of(formula)
    except (UnreadableError, OverflowError):
        return text


class _Forms:
    """Reads formulas."""

    def __init__(self, never_negative: Collection[str]) -> None:
        self._never_negative = frozenset(never_negative)

    def of(self, formula: Formula) -> Hashable:
        """The form of a formula."""
        stack: list[_Polynomial] = []
        for token in formula:
            if not isinstance(token, str):
                stack.append({(): token} if token else {})
            elif token not in OPERATORS:
                stack.append({(token,): 1})
            else:
                arity = OPERATORS[token][0]
                operands = stack[-arity:]
                del stack[-arity:]
                stack.append(self._apply(token, operands))
        return _freeze(stack[0])

    def _apply(self, sign: str, operands: list[_Polynomial]) -> _Polynomial:
        match sign, operands:
            case (("+" | "-"), [one, other]):
                return _sum(one, other, 1 if sign == "+" else -1)
            case "neg", [one]:
                return _sum({}, one, -1)
            case "*", [one, other]:
                return _product(one, other)
            case "**", [base, {**exponent}] if (power := _small_power(exponent)) is not None:
                return _repeat(base, power)
            case (("min" | "max"), [one, other]):
                return self._end(sign, one, other)
            case (("and" | "or"), [one, other]):
                return _atom(sign, *sorted({_freeze(one), _freeze(other)}, key=repr))
        if sign in TURNED:
            return _comparison(sign, *operands)
        return _atom(sign, *map(_freeze, operands))

    def _end(self, sign: str, one: _Polynomial, other: _Polynomial) -> _Polynomial:
        """The least or the largest of two sizes."""
        if self._is_least_zero(_sum(one, other, -1)):
            return one if sign == "max" else other
        if self._is_least_zero(_sum(other, one, -1)):
            return other if sign == "max" else one
        parts = {form for group in (one, other) for form in _parts_of(sign, group)}
        return _atom(sign, *sorted(parts, key=repr))

    def _is_least_zero(self, value: _Polynomial) -> bool:
        return all(
            factor >= 0 and all(atom in self._never_negative for atom in atoms)
            for atoms, factor in value.items()
        )


def _parts_of(sign: str, value: _Polynomial) -> Iterable[Hashable]:
    """What `min(min(a, b), c)` is the least of."""
    if len(value) == 1:
        [(atoms, factor)] = value.items()
        if factor == 1 and len(atoms) == 1 and isinstance(atoms[0], tuple) and atoms[0][0] == sign:
            return atoms[0][1:]
    return [_freeze(value)]


def _comparison(sign: str, one: _Polynomial, other: _Polynomial) -> _Polynomial:
    """`a >= b` and `b <= a` are the same, as are `a == b` and `b == a`."""
    if sign in (">", ">="):
        one, other, sign = other, one, TURNED[sign]
    left = _freeze(_sum(one, other, -1))
    if sign in ("==", "!="):
        left = min(left, _freeze(_sum(other, one, -1)), key=repr)
    return _atom(sign, left)


def _atom(*parts: Hashable) -> _Polynomial:
    return {(parts,): 1}


def _freeze(value: _Polynomial) -> Hashable:
    return tuple(sorted(value.items(), key=repr))


def _sum(one: _Polynomial, other: _Polynomial, factor: int) -> _Polynomial:
    total = dict(one)
    for atoms, scale in other.items():
        total[atoms] = total.get(atoms, 0) + factor * scale
    return {atoms: scale for atoms, scale in total.items() if scale}


def _product(one: _Polynomial, other: _Polynomial) -> _Polynomial:
    if len(one) * len(other) > _MOST_TERMS:
        raise OverflowError("a product of too many terms")
    total: _Polynomial = {}
    for atoms, scale in one.items():
        for others, factor in other.items():
            key = tuple(sorted((*atoms, *others), key=repr))
            total[key] = total.get(key, 0) + scale * factor
    return {atoms: scale for atoms, scale in total.items() if scale}


def _small_power(exponent: _Polynomial) -> int | None:
    if not exponent:
        return 0
    power = exponent.get(()) if len(exponent) == 1 else None
    return power if isinstance(power, int) and 0 < power <= _LARGEST_POWER else None


def _repeat(base: _Polynomial, power: int) -> _Polynomial:
    total: _Polynomial = {(): 1}
    for _ in range(power):
        total = _product(total, base)
    return total
