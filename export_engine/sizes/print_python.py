"""An Expression as Python text, with symbols under the user's names.

Brackets stand only where the meaning needs them, or where `*`, `/`, `//` and `%` meet at one level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from export_engine.sizes.expression import Expression
from export_engine.sizes.postfix import postfix

_IF, _OR, _AND, _NOT, _COMPARED, _BITS, _ADD, _MUL, _SIGNED, _POW, _ATOM = range(11)
"""Python's precedence, the loosest first."""
_LEVELS = {
    "or": _OR,
    "and": _AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _COMPARED),
    **dict.fromkeys(("&", "|", "^"), _BITS),
    **dict.fromkeys(("+", "-"), _ADD),
    **dict.fromkeys(("*", "/", "//", "%"), _MUL),
    "**": _POW,
}


class _Text(NamedTuple):
    text: str
    level: int = _ATOM
    sign: str = ""
    """The operator that it is joined by, if it is."""

    def above(self, level: int) -> str:
        """Its text, in brackets unless it binds more tightly than a level."""
        return self.text if self.level > level else f"({self.text})"


def print_size(
    expression: Expression, names: Mapping[str, str], calls: Mapping[str, str] | None = None
) -> str:
    """The text of an expression.

    Args:
        expression: any.
        names: torch's name of a symbol to the one to print.
        calls: what `min` and `max` are called; others than Python's own take two values.
    """
    stack: list[_Text] = []
    for step in postfix(expression):
        if isinstance(step, tuple):
            sign, count = step
            parts = stack[len(stack) - count :]
            del stack[len(stack) - count :]
            stack.append(_join(sign, parts, calls or {}))
        elif step.is_symbol:
            stack.append(_Text(names.get(step.name, step.name)))
        else:
            special = {"inf": "math.inf", "nan": "math.nan"}
            stack.append(_Text(special.get(str(step.value), repr(step.value))))
    return stack[0].text


def _join(sign: str, parts: list[_Text], calls: Mapping[str, str]) -> _Text:
    match sign, parts:
        case "neg", [part]:
            return _Text(f"-{part.above(_MUL)}", _SIGNED)
        case "not", [part]:
            return _Text(f"not {part.above(_AND)}", _NOT)
        case "if", [value, condition, rest]:
            text = f"{value.above(_IF)} if {condition.above(_IF)} else {rest.text}"
            return _Text(text, _IF)
        case (("max" | "min"), [one, other]):
            flat = one.sign == sign and sign not in calls
            before = one.text[:-1] if flat else f"{calls.get(sign, sign)}({one.text}"
            return _Text(f"{before}, {other.text})", _ATOM, sign)
        case _, [one, other] if sign in _LEVELS:
            level = _LEVELS[sign]
            # A chain of comparisons would say something else; Python reads a ** b ** c from the
            # right; and `a*b // c` is read twice.
            together = level == _ADD or (one.sign == sign and level not in (_COMPARED, _POW))
            left = one.above(level - together)
            right = other.above(_MUL if level == _POW else level - (other.sign == sign == "*"))
            tight = sign in ("*", "**")
            return _Text(left + (sign if tight else f" {sign} ") + right, level, sign)
    return _Text(f"{sign}({', '.join(part.text for part in parts)})")
