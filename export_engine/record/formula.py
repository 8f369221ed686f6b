"""Formulas: arithmetic on sizes that can be evaluated anywhere, without Python and without torch.

A formula is a list in postfix order. Numbers stand for themselves, `d0`, `d1`, ... for sizes, and
any other text is an operator of `OPERATORS`, which takes as many values as it needs.
`widgets/frontend/src/formula.ts` evaluates the same; `formula_parser.py` makes them of text.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from export_engine.record.contract import Formula

OPERATORS: dict[str, tuple[int, Callable[..., Any]]] = {
    "+": (2, operator.add),
    "-": (2, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "//": (2, operator.floordiv),
    "%": (2, operator.mod),
    "**": (2, operator.pow),
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

_LARGEST_POWER = 64


def evaluate(formula: Formula, sizes: Sequence[int]) -> Any:
    """The value of a formula.

    Args:
        formula: not empty.
        sizes: the value of `d0`, of `d1` and so on.

    Raises:
        ArithmeticError, ValueError: it is undefined for these sizes, as with a division by zero.
    """
    stack: list[Any] = []
    for token in formula:
        if not isinstance(token, str):
            stack.append(token)
        elif token in OPERATORS:
            count, function = OPERATORS[token]
            values = stack[-count:]
            del stack[-count:]
            if token == "**" and (abs(values[1]) > _LARGEST_POWER or abs(values[0]) > 2**64):
                raise OverflowError("a power too large to compute")
            stack.append(function(*values))
        else:
            stack.append(sizes[int(token[1:])])
    return stack[0]


def sizes_in(formula: Formula) -> list[int]:
    """The numbers of the sizes that a formula is about, each once."""
    names = (each for each in formula if isinstance(each, str) and each not in OPERATORS)
    return list(dict.fromkeys(int(name[1:]) for name in names))
