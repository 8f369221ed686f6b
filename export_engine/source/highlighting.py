"""Text highlighted by Pygments, as tokens, to be set as text and never as HTML."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pygments.token import _TokenType

LONG_TEXT = 10_000
"""Characters. Pygments takes about a second for 150,000, and library files are longer."""
LONG_LINE = 500
"""Characters. On a longer line, one of Pygments' patterns may take minutes."""
TOKENS_A_LOOK = 16
"""Tokens from one look at the clock to the next."""
LONG_GAP = 50
"""Blank lines in a row. At each, Pygments looks for what comes after the last."""
LONGEST = 1.0
"""CPU seconds for one text: on some, Pygments takes hours."""
LONGEST_INSIDE = 0.4
"""The same for a text of an archive, which may be made to take long."""
_BREAK = re.compile(r"[\r\n]")
_NUMBER = re.compile(r"_\d+")
_DEF = re.compile(r"(\s*)(?:async )?def ")


class Token(NamedTuple):
    """A piece of a line."""

    cls: str
    """Pygments' short class: `k` for a keyword, empty for plain text."""
    text: str


def spent_seconds() -> float:
    """CPU seconds of this thread; of the process where a thread has no clock, as in Pyodide."""
    return getattr(time, "thread_time", time.process_time)()


def python_lines(text: str, seconds: float = math.inf) -> list[list[Token]]:
    """Python source as lines of tokens, without the line ends.

    Args:
        text: the source.
        seconds: CPU time; what is not highlighted by then stays plain.
    """
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    long = {number: rows[number] for number in _left_plain(rows)}
    text = "\n".join("#" if number in long else row for number, row in enumerate(rows))
    lines: list[list[Token]] = [[]]
    for cls, value in _pieces(text, spent_seconds() + seconds):
        first, *others = value.split("\n")
        if first:
            lines[-1].append(Token(cls, first))
        for other in others:
            lines.append([Token(cls, other)] if other else [])
    for number, row in long.items():
        lines[number] = [Token("", row)] if row else []
    if lines and not lines[-1]:
        lines.pop()
    return lines


def alike_lines(rows: Sequence[str], seconds: float = math.inf) -> list[list[Token]]:
    """Lines of Python as tokens, each by itself: no string goes on in the next.

    Lines that differ only in the numbers of names (`add_7`) are highlighted once: the printed code
    of a model with many layers repeats itself.

    Args:
        rows: the lines, without their ends.
        seconds: CPU time; what is not highlighted by then stays plain.
    """
    masked = ["" if _BREAK.search(row) else _NUMBER.sub("_0", row) for row in rows]
    shapes = list(dict.fromkeys(masked))
    items = _pad_lines("\n".join(shapes), seconds)
    tokens = dict(zip(shapes, items, strict=True))
    return [_number_line(tokens[shape], row) for shape, row in zip(masked, rows, strict=True)]


def _number_line(tokens: list[Token], row: str) -> list[Token]:
    """The tokens of a masked line with the numbers of a line; plain, where they are not its own."""
    left = iter(_NUMBER.findall(row))
    line = [
        Token(token.cls, _NUMBER.sub(lambda _: next(left, ""), token.text))
        if "_0" in token.text
        else token
        for token in tokens
    ]
    if "".join(token.text for token in line) != row:
        return [Token("", row)]
    return line


def _left_plain(rows: list[str]) -> Iterator[int]:
    """The lines that Pygments would take too long for."""
    gap = 0
    for number, row in enumerate(rows):
        gap = 0 if row.strip() else gap + 1
        if len(row) > LONG_LINE or gap > LONG_GAP:
            yield number


def _pieces(text: str, until: float) -> Iterator[tuple[str, str]]:
    """Pieces of a text with their classes; joined, they are the text."""
    done = 0
    # Line ends are unchanged, so that pieces can be counted.
    from pygments.lexers.python import PythonLexer

    lexer = PythonLexer(stripnl=False, ensurenl=False)
    for number, (_, kind, value) in enumerate(lexer.get_tokens_unprocessed(text)):
        yield _short_class(kind), value
        done += len(value)
        # The clock costs more than a token does
        if number % TOKENS_A_LOOK == 0 and spent_seconds() > until:
            break
    if done < len(text):
        yield "", text[done:]


def python_lines_around(
    text: str, lines: Collection[int], seconds: float = LONGEST
) -> list[list[Token]]:
    """Python source as lines of tokens; of a long text, only functions with these lines in colour.

    Args:
        text: the source of a file.
        lines: numbers of lines that matter, from 1.
        seconds: CPU time; what is not highlighted by then stays plain.
    """
    until = spent_seconds() + seconds
    if len(text) <= LONG_TEXT:
        return python_lines(text, seconds)
    plain = text.split("\n")
    if not any(_DEF.match(line) for line in plain):  # a cell with magics in it
        return python_lines(text, seconds)
    result = [[Token("", line)] if line else [] for line in plain]
    for first, last in _functions(plain):
        left = until - spent_seconds()
        if left > 0 and any(first <= line <= last for line in lines):
            result[first - 1 : last] = _pad_lines("\n".join(plain[first - 1 : last]), left)
    if result and not result[-1]:
        result.pop()
    return result


def _pad_lines(text: str, seconds: float) -> list[list[Token]]:
    """The lines of a piece of a text, as many as it has; `python_lines` drops an empty last one."""
    lines = python_lines(text, seconds)
    return lines + [[]] * (text.count("\n") + 1 - len(lines))


def _functions(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First and last line of each outermost function, decorators included.

    By indentation: the text may be hostile, and Python's parser is not made for that.
    """
    begun: tuple[int, int] | None = None
    """The line that the function begins at, and how far it is indented."""
    decorated = 0
    for number, line in enumerate(lines, 1):
        bare = line.lstrip()
        if not bare or bare[0] in "#)]}":
            continue
        indent = len(line) - len(bare)
        if begun and indent <= begun[1]:
            yield begun[0], number - 1
            begun = None
        if begun:
            continue
        if bare[0] == "@":
            decorated = decorated or number
        elif _DEF.match(line):
            begun, decorated = (decorated or number, indent), 0
        elif not decorated or not line[0].isspace():
            decorated = 0
    if begun:
        yield begun[0], len(lines)


def _short_class(kind: _TokenType) -> str:
    """The class of a token type, or of the nearest type above it that has one."""
    from pygments.token import STANDARD_TYPES

    nearest: _TokenType | None = kind
    while nearest is not None and nearest not in STANDARD_TYPES:
        nearest = nearest.parent
    short = STANDARD_TYPES[nearest] if nearest is not None else ""
    return "" if short in ("w", "p", "n") else short
