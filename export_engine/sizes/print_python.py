"""An Expression as Python text, with symbols under the user's names.

Brackets stand only where the meaning needs them, or where `*`, `/`, `//` and `%` meet at one level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from export_engine.sizes import limits
from export_engine.sizes.expression import Expression, is_negative, number, order_terms, strip_minus
from export_engine.sizes.parse_torch import OPAQUE

_IF, _OR, _AND, _NOT, _COMPARED, _BITS, _ADD, _MUL, _SIGNED, _POW, _ATOM = range(11)
"""Python's precedence, the loosest first."""
_BETWEEN = {
    "Or": ("or", _OR),
    "And": ("and", _AND),
    "Equality": ("==", _COMPARED),
    "Unequality": ("!=", _COMPARED),
    "StrictLessThan": ("<", _COMPARED),
    "LessThan": ("<=", _COMPARED),
    "StrictGreaterThan": (">", _COMPARED),
    "GreaterThan": (">=", _COMPARED),
    "BitwiseFn_bitwise_and": ("&", _BITS),
    "BitwiseFn_bitwise_or": ("|", _BITS),
    "BitwiseFn_bitwise_xor": ("^", _BITS),
    "FloorDiv": ("//", _MUL),
    "CleanDiv": ("//", _MUL),
    "Mod": ("%", _MUL),
    "PythonMod": ("%", _MUL),
    "IntTrueDiv": ("/", _MUL),
    "FloatTrueDiv": ("/", _MUL),
    "PowByNatural": ("**", _POW),
    "FloatPow": ("**", _POW),
}
"""The operator between values, and its precedence."""
_CALLED = {
    "Max": "max",
    "Min": "min",
    "Abs": "abs",
    "floor": "math.floor",
    "FloorToInt": "math.floor",
    "ceiling": "math.ceil",
    "CeilToInt": "math.ceil",
    "TruncToInt": "math.trunc",
    "TruncToFloat": "math.trunc",
    "RoundToInt": "round",
    "RoundDecimal": "round",
    "ToFloat": "float",
    **{f"OpaqueUnaryFn_{name}": f"math.{name}" for name in OPAQUE},
}


def print_size(expression: Expression, names: Mapping[str, str]) -> str:
    """The text of an expression.

    Args:
        expression: any.
        names: torch's name of a symbol to the one to print.
    """
    return _write(expression, names).text


class _Text(NamedTuple):
    text: str
    level: int = _ATOM
    sign: str = ""
    """The operator that it is joined by, if it is."""

    def above(self, level: int) -> str:
        """Its text, in brackets unless it binds more tightly than a level."""
        return self.text if self.level > level else f"({self.text})"


def _write(expression: Expression, names: Mapping[str, str]) -> _Text:
    args = expression.args
    match expression.kind:
        case "symbol":
            return _Text(names.get(expression.name, expression.name))
        case "number":
            return _Text(_number(expression.value), _SIGNED if is_negative(expression) else _ATOM)
        case "Rational":
            return _Text("/".join(_number(argument.value) for argument in args), _MUL)
        case "Add":
            return _sum(expression, names)
        case "Mul" if is_negative(expression):
            return _negate(expression, names)
        case "Mul":
            return _join("*", _MUL, [_write(argument, names) for argument in args])
        case "Pow":
            return _power(expression, names)
        case "Not":
            return _Text(f"not {_write(args[0], names).above(_AND)}", _NOT)
        case "Identity":
            return _write(args[0], names)
        case "ModularIndexing":
            size, divisor, modulus = (_write(argument, names) for argument in args)
            rest = size if divisor.text == "1" else _join("//", _MUL, [size, divisor])
            return _join("%", _MUL, [rest, modulus])
        case "Piecewise":
            return _piecewise(expression, names)
    texts = [_write(argument, names) for argument in args]
    if expression.kind in _BETWEEN:
        return _join(*_BETWEEN[expression.kind], texts)
    called = _CALLED.get(expression.kind, expression.kind)
    return _Text(f"{called}({', '.join(each.text for each in texts)})")


def _number(value: float) -> str:
    if value != value or value in (float("inf"), -float("inf")):
        return {"inf": "math.inf", "-inf": "-math.inf"}.get(str(value), "math.nan")
    return repr(value)


def _join(sign: str, level: int, parts: Iterable[_Text]) -> _Text:
    """Values with an operator between them."""
    first, *rest = parts
    if not rest:
        return first
    # A chain of comparisons would say something else, and Python reads a ** b ** c from the right.
    alone = first.sign != sign or level == _COMPARED or sign == "**"
    texts = [first.above(level if alone else level - 1)]
    for part in rest:
        if sign == "**":
            texts.append(part.above(_MUL))
        else:
            texts.append(part.above(level - (part.sign == sign == "*")))
    return _Text((sign if sign == "*" else f" {sign} ").join(texts), level, sign)


def _sum(expression: Expression, names: Mapping[str, str]) -> _Text:
    """`seq - 1`, `16 - seq`."""
    first, *terms = order_terms(expression.args)
    text = _write(first, names).above(_ADD)
    for term in terms:
        sign = "-" if is_negative(term) else "+"
        part = _write(strip_minus(term) if sign == "-" else term, names)
        text += f" {sign} {part.above(_ADD)}"
    return _Text(text, _ADD, "+")


def _negate(expression: Expression, names: Mapping[str, str]) -> _Text:
    """`-seq`, `-2*seq`, `-(seq // 2)`."""
    plain = _write(strip_minus(expression), names)
    if plain.sign == "*":
        return _Text(f"-{plain.text}", _MUL, "*")
    return _Text(f"-{plain.above(_MUL)}", _SIGNED)


def _power(expression: Expression, names: Mapping[str, str]) -> _Text:
    """A product where the exponent is a small number: `seq*seq`."""
    base, exponent = (_write(argument, names) for argument in expression.args)
    times = expression.args[1].value
    plain = expression.args[1].is_number and isinstance(times, int) and times >= 0
    if plain and len(base.text) * times <= limits.CHARACTERS:
        return _join("*", _MUL, [base] * int(times)) if times else _Text("1")
    return _join("**", _POW, [base, exponent])


def _piecewise(expression: Expression, names: Mapping[str, str]) -> _Text:
    """`a if c else b if d else 0`."""
    text: _Text | None = None
    for case in reversed(expression.args):
        value, condition = case.args if case.kind == "ExprCondPair" else (case, number(1))
        shown = _write(value, names)
        if text is None or (condition.is_number and condition.value == 1):
            text = shown
        else:
            parts = shown.above(_IF), _write(condition, names).above(_IF)
            text = _Text(f"{parts[0]} if {parts[1]} else {text.text}", _IF)
    return text or _Text("")
