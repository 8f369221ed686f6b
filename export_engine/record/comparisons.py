"""One form for comparisons that say the same: `0 <= 2*a` is `2*a >= 0`, `a == b` is `b == a`."""

from __future__ import annotations

import re

from export_engine.sizes import OPERATORS, Formula

TURNED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""Per comparison the one that says the same with its sides swapped."""
_NUMBER_FIRST = re.compile(r"(-?\d+) (<=|>=|<|>|==|!=) ((?:(?! and | or |[<>]|[=!]=).)+)")


def number_last(text: str) -> str:
    """A comparison as text, with a number on its right: `2*a >= 0` for `0 <= 2*a`."""
    match = _NUMBER_FIRST.fullmatch(text)
    if match is None or match[3].lstrip("-").isdecimal():
        return text
    return f"{match[3]} {TURNED[match[2]]} {match[1]}"


def canonical(formula: Formula) -> tuple[int | float | str, ...]:
    """A formula in the form that all comparisons of the same two sides have."""
    sign = formula[-1] if formula else ""
    if not isinstance(sign, str) or sign not in TURNED:
        return tuple(formula)
    start = _start_of_last(formula[:-1])
    one, other = formula[:start], formula[start:-1]
    if sign in (">", ">=") or (
        TURNED[sign] == sign and list(map(str, other)) < list(map(str, one))
    ):
        one, other, sign = other, one, TURNED[sign]
    return (*one, *other, sign)


def _start_of_last(values: Formula) -> int:
    """Where the last of the values that a postfix text makes starts."""
    wanted, at = 1, len(values)
    while wanted:
        at -= 1
        token = values[at]
        wanted += (OPERATORS[token][0] if isinstance(token, str) and token in OPERATORS else 0) - 1
    return at
