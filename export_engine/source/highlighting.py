"""Text coloured by Pygments, as tokens: who draws them sets the text as text, never as HTML."""

from __future__ import annotations

from typing import NamedTuple

from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES, _TokenType


class Token(NamedTuple):
    """A piece of a line."""

    cls: str
    """Pygments' short class: `k` for a keyword, empty for plain text."""
    text: str


def python_lines(text: str) -> list[list[Token]]:
    """Python source as lines of tokens, without the line ends."""
    lines: list[list[Token]] = [[]]
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(text):
        cls = _short_class(kind)
        first, *others = value.split("\n")
        if first:
            lines[-1].append(Token(cls, first))
        for other in others:
            lines.append([Token(cls, other)] if other else [])
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _short_class(kind: _TokenType) -> str:
    """The class of a token type, or of the nearest type above it that has one."""
    nearest: _TokenType | None = kind
    while nearest is not None and nearest not in STANDARD_TYPES:
        nearest = nearest.parent
    short = STANDARD_TYPES[nearest] if nearest is not None else ""
    return "" if short in ("w", "p", "n") else short
