"""The arguments of an op that changed, by the names that its schema gives them."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise


def find_changed_arguments(
    before: str, after: str, schema: str, shown: tuple[str, str] | None = None
) -> tuple[str, str]:
    """Differences of two calls of an op: `value=0.5` and `value=0.7`.

    Args:
        before: arguments as text, `({}, 0.5)`, with `{}` for each input.
        after: the same of the other call.
        schema: of the op, as torch prints it; empty where it has none.
        shown: the two calls with the names of their inputs, for what is returned.

    Returns:
        The arguments that differ, of each call; a default where one is not given.
    """
    parameters = _parameters(schema)
    shown = shown or (before, after)
    mine, theirs = (_by_name(text, list(parameters)) for text in (before, after))
    texts = [_by_name(text, list(parameters)) for text in shown]
    told: tuple[list[str], list[str]] = ([], [])
    for name in dict.fromkeys([*parameters, *mine, *theirs]):
        default = parameters.get(name, "")
        if mine.get(name, default) == theirs.get(name, default):
            continue
        for side, group in zip(told, texts, strict=True):
            if value := group.get(name, default):
                side.append(f"{name}={value}" if name.isidentifier() else value)
    return (", ".join(told[0]), ", ".join(told[1])) if any(told) else shown


def _by_name(text: str, names: list[str]) -> dict[str, str]:
    """Arguments by name, or by position where no name is known."""
    result: dict[str, str] = {}
    for part in _parts(text.removeprefix("(").removesuffix(")")):
        keyword = re.match(r"(\w+)=(?!=)(.*)", part, re.DOTALL)
        position = len(result)
        name = names[position] if position < len(names) else str(position)
        result |= {keyword[1]: keyword[2]} if keyword else {name: part}
    return result


@lru_cache(maxsize=1024)
def _parameters(schema: str) -> dict[str, str]:
    """The parameters of a schema, and their defaults as Python; empty where there is none."""
    inner = schema.partition("(")[2].rpartition(") -> ")[0]
    items = [part.partition("=") for part in _parts(inner) if part != "*"]
    return {left.split()[-1]: right.replace('"', "'") for left, _, right in items if left.strip()}


def _parts(text: str) -> list[str]:
    """A text apart at its commas, but those within brackets and quotes.

    By hand: texts of a file that someone else wrote are not for Python's parser.
    """
    cuts, depth = [-1], 0
    for piece in _PIECE.finditer(text):
        depth += (piece[0] in _OPENS) - (piece[0] in _CLOSES)
        if piece[0] == "," and depth == 0:
            cuts.append(piece.start())
    texts = [text[one + 1 : other].strip() for one, other in pairwise([*cuts, len(text)])]
    return [text for text in texts if text]


_PIECE = re.compile(r"""'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^'"()\[\]{},]+|.""", re.DOTALL)
_OPENS, _CLOSES = frozenset("([{"), frozenset(")]}")
