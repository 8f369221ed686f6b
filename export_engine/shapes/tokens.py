"""The words and marks of the short language for shapes, each with its column."""

from __future__ import annotations

import re
from typing import NamedTuple

from export_engine.shapes.errors import ShapesError

_TOKEN = re.compile(
    r"(?P<newline>\n)"
    r"|(?P<space>\s+?)"
    r'|(?P<quoted>"(?:[^"\\\n]|\\["\\n])*")'
    r"|(?P<number>[0-9]+)"
    r"|(?P<dots>\.\.)"
    r"|(?P<comparison>==|!=|<=|>=|<|>)"
    r"|(?P<mark>//|[:;,.*!+%()\-\[\]])"
    r'|(?P<word>[^\s:;,.*!+%()\-\[\]<>="/]+|[=/])'
)


_INSTEAD = {"=": "; equal is `==`", "/": "; sizes are divided by `//`, which rounds down"}


class Token(NamedTuple):
    """One token."""

    kind: str
    """newline, quoted, number, dots, comparison, mark, word, or end: after the last character."""
    text: str
    column: int


_IN_A_DICT = "; name inputs in a list or a dict one by one: `xs.0: batch, _; d.key: batch, _`"


def tokens(text: str) -> list[Token]:
    """The tokens of a text, without the spaces, and one of kind `end`.

    Raises:
        ShapesError: a quote is not closed, or a word is not a name.
    """
    items: list[Token] = []
    column = 0
    while column < len(text):
        match = _TOKEN.match(text, column)
        if match is None:
            raise ShapesError(
                'this quote is not closed, or contains a `\\` that is not \\n, \\" or \\\\',
                text,
                column,
            )
        kind = str(match.lastgroup)
        if kind == "word" and not match.group().isidentifier():
            hint = _INSTEAD.get(match.group(), _IN_A_DICT if match.group()[0] == "{" else "")
            raise ShapesError(f"`{match.group()}` has no meaning here{hint}", text, column)
        if kind != "space":
            items.append(Token(kind, match.group(), column))
        column = match.end()
    return [*items, Token("end", "", len(text))]
