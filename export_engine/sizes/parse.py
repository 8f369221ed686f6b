"""Sizes and conditions as torch writes them: text, read by a small grammar, and never run.

In a file torch writes them as sympy's `srepr` does, `Add(Symbol('s77', integer=True), Integer(1))`;
before 2.5, and in guards, as Python, `s77 + 1`. Both are read here into an Expression, and nothing
is computed but a minus sign: not a power, and no function. What is not in the grammar stays text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache

from export_engine.sizes import limits
from export_engine.sizes.expression import (
    CALLED,
    OPAQUE,
    Expression,
    Number,
    UnreadableError,
    make_expression,
    name_symbol,
    negate,
    number,
)


@lru_cache(maxsize=4096)
def parse_size(text: str) -> Expression:
    """The expression that a text is.

    Raises:
        UnreadableError: torch does not write such a text.
    """
    if len(text) > limits.CHARACTERS:
        raise UnreadableError(f"it has {len(text):,} characters")
    return _Parser(text).whole()


def parse_code(text: str, resolve: Callable[[str], str | None]) -> Expression:
    """The expression that Python code says.

    Args:
        text: the code. It may come from anywhere.
        resolve: takes the text of a name, with the attributes, subscripts and calls without
            arguments that follow it, `L['x'].size()[0]`, and gives the symbol that it stands for,
            or None where it means nothing to it.

    Raises:
        UnreadableError: something in it is neither a size nor an operator, or it is too large.
    """
    if len(text) > limits.CODE_CHARACTERS:
        raise UnreadableError(f"it has {len(text):,} characters")
    return _Parser(text, resolve).whole()


_NUMBER = r"\s*(?:(?P<number>\d+\.\d*(?:[eE][+-]?\d+)?|\d+(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_SIGN = r"|(?P<sign>//|\*\*|==|!=|<=|>=|[-+*/%<>(),=&|~]))"
_OF_FILES = re.compile(rf"{_NUMBER}|(?P<name>[A-Za-z_]\w*)|'(?P<text>[\w.+-]*)'{_SIGN}")
_OF_CODE = re.compile(
    rf"{_NUMBER}|(?P<word>(?:and|or|not)\b)"
    r"|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*|\[(?:\w+|'[^'\\]*'|\"[^\"\\]*\")\]|\(\))*)"
    rf"{_SIGN}"
)
_COMPARED = 4
_BINARY = {
    **dict.fromkeys(("or", "|"), (1, "Or")),
    **dict.fromkeys(("and", "&"), (2, "And")),
    "==": (_COMPARED, "Equality"),
    "!=": (_COMPARED, "Unequality"),
    "<": (_COMPARED, "StrictLessThan"),
    "<=": (_COMPARED, "LessThan"),
    ">": (_COMPARED, "StrictGreaterThan"),
    ">=": (_COMPARED, "GreaterThan"),
    "+": (5, "Add"),
    "-": (5, "Add"),
    "*": (6, "Mul"),
    "/": (6, "IntTrueDiv"),
    "//": (6, "FloorDiv"),
    "%": (6, "Mod"),
    "**": (8, "Pow"),
}
_NOT, _SIGNED = 3, 7
"""Precedence of `not`, and of a minus sign: above `*`, below `**`."""
_ALIASES = {"Eq": "Equality", "Ne": "Unequality", "Lt": "StrictLessThan", "Le": "LessThan"} | {
    "Gt": "StrictGreaterThan",
    "Ge": "GreaterThan",
}
_ATOMS = {
    "true": number(1),
    "True": number(1),
    "false": number(0),
    "False": number(0),
    "oo": number(math.inf),
    "int_oo": number(math.inf),
    "inf": number(math.inf),
    "nan": number(math.nan),
}
_INFINITE = {"IntInfinity": math.inf, "Infinity": math.inf, "NaN": math.nan} | {
    "NegativeIntInfinity": -math.inf,
    "NegativeInfinity": -math.inf,
}
_FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("Add", "Mul", "Max", "Min", "And", "Or"), (1, 64)),
    **dict.fromkeys(("Not", "Abs", "floor", "ceiling", "sqrt", "exp", "log", "Identity"), (1, 1)),
    **dict.fromkeys(("CeilToInt", "FloorToInt", "TruncToInt", "TruncToFloat"), (1, 1)),
    **dict.fromkeys(("RoundToInt", "ToFloat"), (1, 1)),
    **dict.fromkeys(("FloorDiv", "CleanDiv", "CeilDiv", "Mod", "PythonMod", "Pow"), (2, 2)),
    **dict.fromkeys(("PowByNatural", "FloatPow", "FloatTrueDiv", "IntTrueDiv"), (2, 2)),
    **dict.fromkeys(("LShift", "RShift", "RoundDecimal"), (2, 2)),
    **dict.fromkeys(("ModularIndexing", "Where"), (3, 3)),
    **dict.fromkeys(("Equality", "Unequality", "StrictLessThan", "LessThan"), (2, 2)),
    **dict.fromkeys(("StrictGreaterThan", "GreaterThan"), (2, 2)),
    **dict.fromkeys(("BitwiseFn_bitwise_and", "BitwiseFn_bitwise_or"), (2, 2)),
    "BitwiseFn_bitwise_xor": (2, 2),
    "IsNonOverlappingAndDenseIndicator": (1, 64),
    **{f"OpaqueUnaryFn_{name}": (1, 1) for name in OPAQUE},
    "Piecewise": (1, 16),
    "ExprCondPair": (2, 2),
}
"""The functions in torch's sizes, and how many arguments each takes."""
_CODE_CALLS = {text: kind for kind, text in reversed(CALLED.items())} | {
    "torch.sym_max": "Max",
    "torch.sym_min": "Min",
    "torch.sym_float": "ToFloat",
    "torch.sym_int": "TruncToInt",
    "torch.sym_not": "Not",
}
"""The functions in code."""


class _Parser:
    """Parses one text, within limits on depth and length."""

    def __init__(self, text: str, resolve: Callable[[str], str | None] | None = None) -> None:
        self._resolve = resolve
        self._tokens = self._split(text.strip())
        self._at = 0
        self._depth = 0

    def _split(self, text: str) -> list[tuple[str, str]]:
        pairs, at = [], 0
        pattern = _OF_FILES if self._resolve is None else _OF_CODE
        while at < len(text):
            match = pattern.match(text, at)
            if match is None:
                raise UnreadableError(f"{text[at : at + 20]!r} is not part of a size")
            kind = str(match.lastgroup)
            pairs.append(("sign" if kind == "word" else kind, match[kind]))
            at = match.end()
        return pairs

    def whole(self) -> Expression:
        """The expression of the whole text."""
        expression = self._expression(0)
        if self._at < len(self._tokens):
            raise UnreadableError(f"{self._tokens[self._at][1]!r} comes after its end")
        return expression

    def _expression(self, least: int) -> Expression:
        self._depth += 1
        if self._depth > limits.DEPTH:
            raise UnreadableError(f"it is nested more than {limits.DEPTH} levels deep")
        left = self._operand()
        compared: Expression | None = None  # what stands to the right of the last comparison
        while (sign := self._peek("sign")) in _BINARY and _BINARY[sign][0] >= least:
            level, name = _BINARY[sign]
            self._at += 1
            right = self._expression(level if sign == "**" else level + 1)
            if level == _COMPARED and compared is not None:
                left = make_expression("And", (left, make_expression(name, (compared, right))))
                if left.size > limits.STEPS:  # what is in the middle is in it twice
                    raise UnreadableError(f"it has more than {limits.STEPS:,} parts")
            else:
                left = make_expression(name, (left, negate(right) if sign == "-" else right))
            compared = right if level == _COMPARED else None
        self._depth -= 1
        return left

    def _operand(self) -> Expression:
        if self._at >= len(self._tokens):
            raise UnreadableError("it ends too early")
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return number(_read_number(text))
        if kind == "name" and self._peek("sign") == "(":
            return self._parse_call(text)
        if kind == "name":
            return _atom(text) if self._resolve is None else self._parse_name(text)
        if text in ("-", "+"):
            inner = self._expression(_SIGNED)
            return inner if text == "+" else negate(inner)
        if text in ("~", "not"):
            inner = self._expression(_SIGNED if text == "~" else _NOT)
            return make_expression("Not", (inner,))
        if text == "(":
            inner = self._expression(0)
            if self._peek("sign") == ",":  # a case of a Piecewise, as Python prints it
                self._at += 1
                inner = make_expression("ExprCondPair", (inner, self._expression(0)))
            self._expect(")")
            return inner
        raise UnreadableError(f"{text!r} is not a size")

    def _parse_call(self, name: str) -> Expression:
        self._expect("(")
        if name in ("Symbol", "Dummy") and self._resolve is None:
            return _atom(self._take_quoted())
        if name == "Float" and self._resolve is None:
            return number(_read_float(self._take_quoted()))
        args: list[Expression] = []
        while self._peek("sign") != ")":
            if args:
                self._expect(",")
            args.append(self._expression(0))
        self._expect(")")
        if self._resolve is None:
            return _function(name, tuple(args))
        if len(args) != 1 and _CODE_CALLS.get(name) not in ("Max", "Min"):
            raise UnreadableError(f"{name[:40]!r} of {len(args)} values is not a size")
        return _function(_CODE_CALLS.get(name, ""), tuple(args))

    def _parse_name(self, text: str) -> Expression:
        """A name in code."""
        if text in ("True", "False"):
            return _ATOMS[text]
        symbol = self._resolve(text.replace('"', "'")) if self._resolve else None
        if symbol is None:
            raise UnreadableError(f"{text[:40]!r} is not a size")
        return name_symbol(symbol)

    def _take_quoted(self) -> str:
        """`'s77', positive=True)`, `'0.5', precision=53)`: what follows the text is not needed."""
        text = self._take("text")
        while self._peek("sign") == ",":
            self._at += 1
            self._take("name")
            self._expect("=")
            self._take("name", "number")
        self._expect(")")
        return text

    def _peek(self, kind: str) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at][0] == kind:
            return self._tokens[self._at][1]
        return ""

    def _take(self, *kinds: str) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at][0] in kinds:
            self._at += 1
            return self._tokens[self._at - 1][1]
        raise UnreadableError("a name or a number is missing")

    def _expect(self, sign: str) -> None:
        if self._peek("sign") != sign:
            raise UnreadableError(f"{sign!r} is missing")
        self._at += 1


def _atom(name: str) -> Expression:
    if name in _ATOMS:
        return _ATOMS[name]
    if not name.isidentifier() or len(name) > limits.NAME:
        raise UnreadableError(f"{name[:40]!r} is not the name of a symbol")
    return name_symbol(name)


def _function(name: str, args: tuple[Expression, ...]) -> Expression:
    name = _ALIASES.get(name, name)
    if name in _INFINITE and not args:
        return number(_INFINITE[name])
    if name in ("Integer", "Rational"):
        return _exact(name, args)
    least, most = _FUNCTIONS.get(name, (1, 0))
    if not least <= len(args) <= most:
        raise UnreadableError(
            f"{name[:40]!r} of {len(args)} values is not something that torch writes"
        )
    return make_expression(name, args)


def _exact(name: str, args: tuple[Expression, ...]) -> Expression:
    values = [argument.value for argument in args if argument.is_number]
    if len(values) != len(args):
        raise UnreadableError(f"{name} of something that is not a number")
    if name == "Integer" and len(values) == 1:
        return args[0]
    if name == "Rational" and len(values) == 2 and values[1]:
        return Expression("Rational", args)
    raise UnreadableError(f"{name} of {len(values)} values")


def _read_number(text: str) -> Number:
    if not text.isdigit():
        return _read_float(text)
    if len(text) > 20 or int(text) > limits.INTEGER + 1:
        raise UnreadableError("a number too large for a size")
    return int(text)


def _read_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UnreadableError(f"{text[:40]!r} is not a number") from None
