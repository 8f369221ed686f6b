"""Formulas: arithmetic on sizes that can be evaluated anywhere, without Python and without torch.

A formula is a list in postfix order. Numbers stand for themselves, `d0`, `d1`, ... for sizes, and
any other text is an operator of `OPERATORS`, which takes as many values as it needs.
`widgets/frontend/src/formula.ts` evaluates the same.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from export_engine.sizes import limits
from export_engine.sizes.evaluate import real_power
from export_engine.sizes.expression import Expression, UnreadableError
from export_engine.sizes.parse import parse_code
from export_engine.sizes.postfix import postfix

Formula = list[int | float | str]
"""Arithmetic on sizes in postfix order, as `formula.py` evaluates it: `d0` is the size
of `Probe.inputs[0]`, any other text an operator. Empty if it cannot be evaluated."""

_LARGEST_POWER = 64


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > _LARGEST_POWER or abs(base) > 2**64:
        raise OverflowError("a power too large to compute")
    return real_power(base, exponent)


OPERATORS: dict[str, tuple[int, Callable[..., Any]]] = {
    "+": (2, operator.add),
    "-": (2, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "//": (2, operator.floordiv),
    "%": (2, operator.mod),
    "**": (2, _power),
    "min": (2, min),
    "max": (2, max),
    "neg": (1, operator.neg),
    "not": (1, operator.not_),
    "abs": (1, abs),
    "floor": (1, math.floor),
    "ceil": (1, math.ceil),
    "trunc": (1, math.trunc),
    "round": (1, round),
    "sqrt": (1, math.sqrt),
    "log": (1, math.log),
    "log2": (1, math.log2),
    "exp": (1, math.exp),
    "float": (1, float),
    "==": (2, operator.eq),
    "!=": (2, operator.ne),
    "<": (2, operator.lt),
    "<=": (2, operator.le),
    ">": (2, operator.gt),
    ">=": (2, operator.ge),
    "and": (2, lambda one, other: bool(one) and bool(other)),
    "or": (2, lambda one, other: bool(one) or bool(other)),
}
"""The arity and the function of each operator, as in Python."""


def make_formula(expression: Expression) -> Formula:
    """The formula of an expression, whose symbols have the names of sizes.

    Raises:
        UnreadableError: something in it has no operator.
    """
    formula: Formula = []
    for step in postfix(expression):
        if isinstance(step, Expression):
            token: int | float | str = step.name if step.is_symbol else step.value
            fits = step.is_symbol or math.isfinite(step.value)
        else:
            token = step[0].removeprefix("math.")
            fits = OPERATORS.get(token, (0, None))[0] == step[1]
        if not fits or len(formula) > limits.STEPS:
            raise UnreadableError(f"{str(token)[:40]!r} is not an operator of sizes")
        formula.append(token)
    return formula


def compile_formula(text: str, resolve: Callable[[str], str | None]) -> Formula:
    """The formula of Python code; see `parse_code`.

    Raises:
        UnreadableError: it is not arithmetic on sizes.
    """
    return make_formula(parse_code(text, resolve))


def evaluate_formula(formula: Formula, sizes: Sequence[int]) -> Any:
    """The value of a formula.

    Args:
        formula: not empty.
        sizes: the value of `d0`, of `d1` and so on.

    Raises:
        ArithmeticError, ValueError: it is undefined for these sizes, as with a division by zero.
    """
    return Evaluator(formula)(sizes)


class Evaluator:
    """A formula to be evaluated many times: what occurs in it several times is computed once.

    torch writes out a size wherever it asks for it, so that long formulas repeat few parts.
    """

    def __init__(self, formula: Formula) -> None:
        self._sizes: list[tuple[int, int]] = []
        self._steps: list[tuple[int, Callable[..., Any], tuple[int, ...]]] = []
        places: dict[tuple[Any, ...], int] = {}
        self._values: list[Any] = []
        stack: list[int] = []
        for token in formula:
            arity, function = OPERATORS.get(str(token), (0, None))
            first = len(stack) - arity
            numbers = tuple(stack[first:])
            del stack[first:]
            place = places.setdefault((type(token), token, numbers), len(places))
            stack.append(place)
            if place < len(self._values):
                continue
            self._values.append(None if isinstance(token, str) else token)
            if function is not None:
                self._steps.append((place, function, numbers))
            elif isinstance(token, str):
                self._sizes.append((place, int(token[1:])))
        self._result = stack[0]

    def __call__(self, sizes: Sequence[int]) -> Any:
        """The value, as `evaluate_formula` gives it, and with its errors."""
        values = self._values.copy()
        for place, number in self._sizes:
            values[place] = sizes[number]
        for place, function, numbers in self._steps:
            values[place] = function(*[values[number] for number in numbers])
        return values[self._result]


def sizes_in(formula: Formula) -> list[int]:
    """The numbers of the sizes that a formula is about, each once."""
    names = (item for item in formula if isinstance(item, str) and item not in OPERATORS)
    return list(dict.fromkeys(int(name[1:]) for name in names))
