"""Formulas of the Python text that torch writes for guards and sizes. It is parsed, never run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from export_engine.sizes.formula import Formula

_CALLS = {
    "min": "min",
    "max": "max",
    "abs": "abs",
    "round": "round",
    "float": "float",
    "math.floor": "floor",
    "math.ceil": "ceil",
    "math.trunc": "trunc",
    "math.sqrt": "sqrt",
    "math.log": "log",
    "math.log2": "log2",
    "math.exp": "exp",
    "torch.sym_max": "max",
    "torch.sym_min": "min",
    "torch.sym_float": "float",
    "torch.sym_int": "trunc",
    "torch.sym_not": "not",
}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<word>(?:and|or|not)\b)"
    r"|(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*|\[(?:\w+|'[^'\\]*'|\"[^\"\\]*\")\]|\(\))*)"
    r"|(?P<sign>//|\*\*|==|!=|<=|>=|[-+*/%<>(),]))"
)
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_LEVELS = {"or": 1, "and": 2, **dict.fromkeys(_COMPARISONS, 4), "+": 5, "-": 5} | {
    **dict.fromkeys(("*", "/", "//", "%"), 6),
    "**": 8,
}
"""Precedence of each operator."""
_NOT, _SIGNED = 3, 7
"""Precedence of `not` and of a unary minus."""
_CONSTANTS = {"True": 1, "False": 0}
_LONGEST = 100_000
"""Characters of a text that is read."""
_DEEPEST = 60
_MOST_DIGITS = 30
_MOST_TOKENS = 50_000


class NoFormula(ValueError):
    """A text that is not arithmetic on sizes."""


def compile_formula(text: str, resolve: Callable[[str], Formula | None]) -> Formula:
    """The formula of a Python expression.

    Args:
        text: the expression. It may come from anywhere: it is read by a grammar of our own.
        resolve: takes the text of a name, with the attributes, subscripts and calls without
            arguments that follow it, `L['x'].size()[0]`, and gives what it stands for, or None
            where it means nothing to it.

    Raises:
        NoFormula: something in it is neither a size nor an operator.
    """
    return _Parser(text, resolve).whole()


class _Parser:
    """A precedence-climbing parser with bounded depth. It computes nothing."""

    def __init__(self, text: str, resolve: Callable[[str], Formula | None]) -> None:
        self._text = text.strip()
        self._resolve = resolve
        self._tokens = list(self._split())
        self._at = 0
        self._depth = 0

    def whole(self) -> Formula:
        """The formula of all of the text."""
        result = self._expression(0)
        if self._at < len(self._tokens):
            raise NoFormula(self._text[:200])
        return result

    def _split(self) -> Iterator[tuple[str, str]]:
        if len(self._text) > _LONGEST:
            raise NoFormula(f"a formula of {len(self._text):,} characters")
        at = 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if match is None:
                raise NoFormula(self._text[at : at + 40])
            kind = str(match.lastgroup)
            yield ("sign" if kind == "word" else kind), match[kind]
            at = match.end()

    def _expression(self, least: int) -> Formula:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NoFormula("a formula nested too deeply")
        result = self._operand()
        compared: Formula | None = None  # what stands to the right of the last comparison
        while (level := _LEVELS.get(sign := self._sign(), -1)) >= max(least, 1):
            self._at += 1
            right = self._expression(level if sign == "**" else level + 1)
            if sign in _COMPARISONS and compared is not None:
                result = [*result, *compared, *right, sign, "and"]
            else:
                result = [*result, *right, sign]
            if len(result) > _MOST_TOKENS:  # a chain of comparisons has its middle twice
                raise NoFormula(self._text[:200])
            compared = right if sign in _COMPARISONS else None
        self._depth -= 1
        return result

    def _operand(self) -> Formula:
        kind, text = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        self._at += 1
        if kind == "number":
            if len(text) > _MOST_DIGITS:
                raise NoFormula(text[:40])
            return [int(text) if text.isdigit() else float(text)]
        if kind == "name":
            return self._parse_named(text)
        match text:
            case "-":
                return [*self._expression(_SIGNED), "neg"]
            case "not":
                return [*self._expression(_NOT), "not"]
            case "(":
                inner = self._expression(0)
                self._expect(")")
                return inner
        raise NoFormula(self._text[:200])

    def _parse_named(self, text: str) -> Formula:
        if text in _CONSTANTS:
            return [_CONSTANTS[text]]
        if self._sign() != "(":
            result = self._resolve(text.replace('"', "'"))
            if result is None:
                raise NoFormula(text)
            return result
        self._at += 1
        parts = [self._expression(0)]
        while self._sign() == ",":
            self._at += 1
            parts.append(self._expression(0))
        self._expect(")")
        name = _CALLS.get(text, "")
        if name in ("min", "max"):
            items = list(parts[0])
            for part in parts[1:]:
                items += [*part, name]
            return items
        if not name or len(parts) != 1:
            raise NoFormula(text)
        return [*parts[0], name]

    def _sign(self) -> str:
        """The next token, where it is a sign."""
        kind, text = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        return text if kind == "sign" else ""

    def _expect(self, sign: str) -> None:
        if self._sign() != sign:
            raise NoFormula(self._text[:200])
        self._at += 1
