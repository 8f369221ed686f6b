"""Amounts: whole numbers that depend on named sizes, as sums of products of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from export_engine.record import Record, Size
from export_engine.sizes import (
    OPERATORS,
    Formula,
    UnreadableError,
    compile_formula,
    evaluate_formula,
)


class Factor(NamedTuple):
    """A size, or an expression of sizes that is not a sum of products: `(h - 1) // 32`."""

    text: str
    formula: tuple[int | float | str, ...]
    """In postfix order; `d0` is the first of `Record.symbols`."""

    @property
    def operand(self) -> str:
        """Its text as a part of another: in brackets, unless it is a name or a call."""
        *_, last = self.formula
        infix = isinstance(last, str) and OPERATORS.get(last, (0,))[0] == 2 and not last.isalpha()
        return f"({self.text})" if infix else self.text


Product = tuple[tuple[Factor, int], ...]
"""Factors with their powers, in the order of their texts; the empty one is 1."""


class Amount:
    """A sum of products of sizes: `8*batch*seq**2 + 3*batch`. Immutable and hashable."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Product, int] | int = 0) -> None:
        """Make one.

        Args:
            terms: a coefficient for each product; or a number.
        """
        terms = {(): terms} if isinstance(terms, int) else terms
        self.terms = {product: scale for product, scale in terms.items() if scale}

    def __add__(self, other: Amount | int) -> Amount:
        terms = dict(self.terms)
        for product, scale in _amount(other).terms.items():
            terms[product] = terms.get(product, 0) + scale
        return Amount(terms)

    __radd__ = __add__

    def __sub__(self, other: Amount | int) -> Amount:
        return self + _amount(other) * -1

    def __mul__(self, other: Amount | int) -> Amount:
        if isinstance(other, int):
            return Amount({product: scale * other for product, scale in self.terms.items()})
        terms: dict[Product, int] = {}
        for one, scale in self.terms.items():
            for two, by in other.terms.items():
                product = _product(one, two)
                terms[product] = terms.get(product, 0) + scale * by
        return Amount(terms)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount | int) and self.terms == _amount(other).terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __str__(self) -> str:
        """As Python writes it, the highest powers first."""
        ordered = sorted(self.terms.items(), key=lambda each: (-_degree(each[0]), str(each[0])))
        text = " + ".join(_term(product, scale) for product, scale in ordered) or "0"
        return text.replace("+ -", "- ")

    __repr__ = __str__

    @property
    def factors(self) -> set[Factor]:
        """The sizes and expressions in it."""
        return {factor for product in self.terms for factor, _ in product}

    def at(self, sizes: Sequence[int]) -> int:
        """Its value.

        Args:
            sizes: a value for each of `Record.symbols`.

        Raises:
            ArithmeticError, ValueError: an expression in it has no value at these sizes.
        """
        return value_of([self], sizes)[0]


def scale(amount: Amount | None, times: Amount) -> Amount | None:
    """So many times an amount; None of one that is not known."""
    return amount if amount is None or times == 1 else amount * times


def value_of(amounts: Iterable[Amount], sizes: Sequence[int]) -> list[int]:
    """The values of several amounts; what they share is computed once. Raises as `Amount.at`."""
    factors: dict[Factor, int] = {}
    products: dict[Product, int] = {}
    values = []
    for amount in amounts:
        total = 0
        for product, scale in amount.terms.items():
            value = products.get(product)
            if value is None:
                value = 1
                for factor, power in product:
                    if factor not in factors:
                        factors[factor] = int(evaluate_formula(list(factor.formula), sizes))
                    value *= factors[factor] ** power
                products[product] = value
            total += scale * value
        values.append(total)
    return values


class SizeReader:
    """Reads the sizes of one Record as amounts; each text once."""

    def __init__(self, record: Record) -> None:
        """Make one.

        Args:
            record: whose symbols the texts are about.
        """
        self._names = {symbol.name: f"d{number}" for number, symbol in enumerate(record.symbols)}
        self._symbols = [symbol.name for symbol in record.symbols]
        self._known: dict[str, Amount | None] = {}

    def read(self, size: Size) -> Amount | None:
        """A size of a tensor as an amount; None where its text is not arithmetic on symbols."""
        if isinstance(size, int):
            return Amount(size)
        if size not in self._known:
            self._known[size] = self._parse(size)
        return self._known[size]

    def product(self, sizes: Iterable[Size]) -> Amount | None:
        """The product of sizes; None where one of them is not known."""
        total = Amount(1)
        for size in sizes:
            amount = self.read(size)
            if amount is None:
                return None
            total = total * amount
        return total

    def _parse(self, text: str) -> Amount | None:
        try:
            formula = compile_formula(text, self._names.get)
        except UnreadableError:
            return None
        stack: list[Amount] = []
        for token in formula:
            if isinstance(token, str) and token in OPERATORS:
                arity = OPERATORS[token][0]
                parts = stack[-arity:]
                del stack[-arity:]
                stack.append(combine(token, *parts))
            elif isinstance(token, str):
                stack.append(_of_factor(Factor(self._symbols[int(token[1:])], (token,))))
            else:
                stack.append(_of_number(token))
        return stack[0] if len(stack) == 1 else None


def combine(sign: str, *amounts: Amount) -> Amount:
    """An operation on amounts; one that gives no sum of products becomes a factor.

    Args:
        sign: one of `OPERATORS`.
        *amounts: as many as it takes.
    """
    if sign == "+":
        return amounts[0] + amounts[1]
    if sign == "-":
        return amounts[0] - amounts[1]
    if sign == "*":
        return amounts[0] * amounts[1]
    if sign == "neg":
        return amounts[0] * -1
    if sign == "**" and set(amounts[1].terms) == {()} and 0 < amounts[1].terms[()] <= _POWER:
        power = Amount(1)
        for _ in range(amounts[1].terms[()]):
            power = power * amounts[0]
        return power
    texts = [_operand(amount) for amount in amounts]
    infix = len(texts) > 1 and not sign.isalpha()
    text = f" {sign} ".join(texts) if infix else f"{sign}({', '.join(map(str, amounts))})"
    formula: Formula = [*(token for amount in amounts for token in _postfix(amount)), sign]
    return _of_factor(Factor(text, tuple(formula)))


def largest(one: Amount | int, *others: Amount | int) -> Amount:
    """The largest of amounts, at each size."""
    return _choose_by("max", one, *others)


def smallest(one: Amount | int, *others: Amount | int) -> Amount:
    """The smallest of amounts, at each size."""
    return _choose_by("min", one, *others)


def _choose_by(sign: str, one: Amount | int, *others: Amount | int) -> Amount:
    result = _amount(one)
    for other in map(_amount, others):
        result = result if result == other else _evaluate(sign, result, other)
    return result


def is_at_least(amount: Amount | int, least: int) -> Amount:
    """1 where an amount is as large as a number, else 0."""
    return _evaluate(">=", _amount(amount), Amount(least))


def count_blocks(amount: Amount | int, block: Amount | int) -> Amount:
    """Into how many blocks of a size it is cut; the last may be smaller."""
    return _evaluate("//", _amount(amount) + block - 1, _amount(block))


def _evaluate(sign: str, *amounts: Amount) -> Amount:
    """As `combine`; of numbers, a number."""
    numbers = [amount.terms.get((), 0) for amount in amounts if set(amount.terms) <= {()}]
    if len(numbers) < len(amounts):
        return combine(sign, *amounts)
    return Amount(int(OPERATORS[sign][1](*numbers)))


def _postfix(amount: Amount) -> Formula:
    """An amount as `evaluate_formula` reads it."""
    formula: Formula = []
    for product, scale in amount.terms.items():
        plus = bool(formula)
        formula.append(scale)
        for factor, power in product:
            formula += factor.formula
            formula += (power, "**", "*") if power > 1 else ("*",)
        if plus:
            formula.append("+")
    return formula or [0]


_POWER = 8
"""The highest power that is multiplied out."""


def _amount(value: Amount | int) -> Amount:
    return value if isinstance(value, Amount) else Amount(value)


def _of_factor(factor: Factor) -> Amount:
    return Amount({((factor, 1),): 1})


def _of_number(number: float) -> Amount:
    if isinstance(number, int):
        return Amount(number)
    return _of_factor(Factor(str(number), (number,)))


def _product(one: Product, other: Product) -> Product:
    if not one or not other:
        return one or other
    powers = dict(one)
    for factor, power in other:
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted(powers.items(), key=lambda each: each[0].text))


def _operand(amount: Amount) -> str:
    """Its text as a part of another: in brackets, unless it is a number or one factor."""
    if not amount.terms:
        return "0"
    (product, scale), *others = amount.terms.items()
    if others or scale < 0 or (product and (scale > 1 or _degree(product) > 1)):
        return f"({amount})"
    return product[0][0].operand if product else str(scale)


def _degree(product: Product) -> int:
    return sum(power for _, power in product)


def _term(product: Product, scale: int) -> str:
    if not product:
        return str(scale)
    if scale == 1 and _degree(product) == 1:
        return product[0][0].text
    parts = [
        factor.operand if power == 1 else f"{factor.operand}**{power}" for factor, power in product
    ]
    return "*".join(parts if scale == 1 else [str(scale), *parts])
