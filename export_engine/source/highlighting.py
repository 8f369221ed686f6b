"""Text coloured by Pygments, as tokens: who draws them sets the text as text, never as HTML."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import NamedTuple

from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES, _TokenType

LONG_TEXT = 30_000
"""Characters. Pygments takes about a second for 150,000, and files of libraries have more."""


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


def python_lines_around(text: str, lines: Collection[int]) -> list[list[Token]]:
    """Python source as lines of tokens; of a long text, only functions with these lines in colour.

    Args:
        text: the source of a file.
        lines: numbers of lines that matter, from 1.
    """
    if len(text) <= LONG_TEXT:
        return python_lines(text)
    try:
        spans = list(_functions(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a cell with magics in it
        return python_lines(text)
    plain = text.split("\n")
    found = [[Token("", line)] if line else [] for line in plain]
    for first, last in spans:
        if any(first <= line <= last for line in lines):
            found[first - 1 : last] = _padded("\n".join(plain[first - 1 : last]))
    if found and not found[-1]:
        found.pop()
    return found


def _padded(text: str) -> list[list[Token]]:
    """The lines of a piece of a text, as many as it has; `python_lines` drops an empty last one."""
    lines = python_lines(text)
    return lines + [[]] * (text.count("\n") + 1 - len(lines))


def _functions(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """First and last line of each function that is in no other, its decorators included."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield first, node.end_lineno or node.lineno
        elif isinstance(node, ast.stmt):
            yield from _functions(node)


def _short_class(kind: _TokenType) -> str:
    """The class of a token type, or of the nearest type above it that has one."""
    nearest: _TokenType | None = kind
    while nearest is not None and nearest not in STANDARD_TYPES:
        nearest = nearest.parent
    short = STANDARD_TYPES[nearest] if nearest is not None else ""
    return "" if short in ("w", "p", "n") else short
