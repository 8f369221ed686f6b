"""An Expression as Python text, with symbols under the user's names."""

from __future__ import annotations

from collections.abc import Mapping

from export_engine.sizes import limits
from export_engine.sizes.expression import Expression, is_negative, number, order_terms, strip_minus
from export_engine.sizes.parse_torch import OPAQUE

_ADD, _MUL, _POW, _FUNCTION, _ATOM = 40.0, 50.0, 60.0, 70.0, 1000.0
_INSIDE = _ATOM - 0.5
"""Anything but a single name or number gets parentheses."""
_LEVELS = {
    "Add": _ADD,
    "Mul": _MUL,
    "Rational": _MUL,
    "Pow": _POW,
    "Or": 20.0,
    "And": 30.0,
    "Not": 100.0,
    "Equality": 50.0,
    "Unequality": 50.0,
    "PowByNatural": 50.0,
    "FloatPow": 60.0,
    "Identity": 10.0,
    "BitwiseFn_bitwise_and": 38.0,
    "BitwiseFn_bitwise_or": 36.0,
    "BitwiseFn_bitwise_xor": 37.0,
    "Max": _ATOM,
    "Min": _ATOM,
    **dict.fromkeys(("StrictLessThan", "LessThan", "StrictGreaterThan", "GreaterThan"), 35.0),
    **dict.fromkeys(("FloorDiv", "CleanDiv", "Mod", "PythonMod", "ModularIndexing"), 35.0),
    **dict.fromkeys(("FloatTrueDiv", "IntTrueDiv", "Where"), 35.0),
}
"""Precedence of each, as in sympy and torch; any other is a function."""
_SIGNS = {
    "Equality": (" == ", 50.0),
    "Unequality": (" != ", 50.0),
    "StrictLessThan": (" < ", 35.0),
    "LessThan": (" <= ", 35.0),
    "StrictGreaterThan": (" > ", 35.0),
    "GreaterThan": (" >= ", 35.0),
    "And": (" and ", 30.0),
    "Or": (" or ", 20.0),
    "FloorDiv": (" // ", _INSIDE),
    "CleanDiv": (" // ", _INSIDE),
    "Mod": (" % ", _INSIDE),
    "PythonMod": (" % ", _INSIDE),
    "IntTrueDiv": (" / ", _INSIDE),
    "PowByNatural": (" ** ", _POW),
    "FloatPow": (" ** ", _POW),
    "BitwiseFn_bitwise_and": (" & ", 38.0),
    "BitwiseFn_bitwise_or": (" | ", 36.0),
    "BitwiseFn_bitwise_xor": (" ^ ", 37.0),
}
"""The operator between values, and the precedence from which they get parentheses."""
_CALLED = {
    "Max": "max",
    "Min": "min",
    "Abs": "abs",
    "Not": "not ",
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
    match expression.kind:
        case "symbol":
            return names.get(expression.name, expression.name)
        case "number":
            return _number(expression.value)
        case "Rational":
            return "/".join(_number(argument.value) for argument in expression.args)
        case "Add":
            return _sum(expression, names)
        case "Mul":
            return _product(expression, names)
        case "Pow":
            return _power(expression, names)
        case "Identity":
            return print_size(expression.args[0], names)
        case "FloatTrueDiv":
            return f"({_join_terms(expression, ' / ', _INSIDE, names)})"
        case "ModularIndexing":
            return _modular(expression, names)
        case "Piecewise":
            return _piecewise(expression, names)
    if expression.kind in _SIGNS:
        sign, level = _SIGNS[expression.kind]
        return _join_terms(expression, sign, level, names)
    called = _CALLED.get(expression.kind, expression.kind)
    return f"{called}({', '.join(print_size(argument, names) for argument in expression.args)})"


def _number(value: float) -> str:
    if value != value or value in (float("inf"), -float("inf")):
        return {"inf": "math.inf", "-inf": "-math.inf"}.get(str(value), "math.nan")
    return repr(value)


def _sum(expression: Expression, names: Mapping[str, str]) -> str:
    """`seq - 1`, `16 - seq`."""
    first, *terms = order_terms(expression.args)
    minus = "-" if is_negative(first) else ""
    text = minus + _add_brackets(strip_minus(first) if minus else first, _ADD, names)
    for term in terms:
        sign = " - " if is_negative(term) else " + "
        text += sign + _add_brackets(strip_minus(term) if sign == " - " else term, _ADD, names)
    return text


def _product(expression: Expression, names: Mapping[str, str]) -> str:
    """`2*seq`, and `-seq`."""
    if is_negative(expression):
        return f"-{_add_brackets(strip_minus(expression), _ADD, names)}"
    return _join_terms(expression, "*", _level(expression), names)


def _power(expression: Expression, names: Mapping[str, str]) -> str:
    base, exponent = expression.args
    plain_text = print_size(base, names)  # once: printing it twice would be exponential
    text = f"({plain_text})" if _level(base) <= _MUL else plain_text
    times = exponent.value
    plain = exponent.is_number and isinstance(times, int) and times >= 0
    if plain and len(text) * times <= limits.CHARACTERS:
        return "*".join([text] * int(times)) or "1"
    raised = f"({plain_text})" if _level(base) <= _POW else plain_text
    return f"{raised} ** {_add_brackets(exponent, _POW, names)}"


def _modular(expression: Expression, names: Mapping[str, str]) -> str:
    x, divisor, modulus = (_add_brackets(argument, _INSIDE, names) for argument in expression.args)
    return f"({x} % {modulus})" if divisor == "1" else f"(({x} // {divisor}) % {modulus})"


def _piecewise(expression: Expression, names: Mapping[str, str]) -> str:
    """`(a if c else (b if d else 0))`, as torch prints it."""
    text = ""
    for case in reversed(expression.args):
        value, condition = case.args if case.kind == "ExprCondPair" else (case, number(1))
        shown = print_size(value, names)
        always = condition.is_number and condition.value == 1
        text = (
            f"({shown} if {print_size(condition, names)} else {text})"
            if text and not always
            else shown
        )
    return text


def _join_terms(expression: Expression, sign: str, level: float, names: Mapping[str, str]) -> str:
    return sign.join(_add_brackets(argument, level, names) for argument in expression.args)


def _add_brackets(expression: Expression, level: float, names: Mapping[str, str]) -> str:
    text = print_size(expression, names)
    return f"({text})" if _level(expression) <= level else text


def _level(expression: Expression) -> float:
    if is_negative(expression):
        return _ADD
    if expression.kind in ("symbol", "number"):
        return _ATOM
    return _LEVELS.get(expression.kind, _FUNCTION)
