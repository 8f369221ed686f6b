"""A node's arguments by the names of its op's parameters, with the inputs in each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from export_engine.record import call_arguments, schema_arguments

_PIECE = re.compile(r"\{\{|\}\}|\{(\d+)\}")
_TORCHS_MESSAGE = re.compile(r"Runtime assertion failed for expression .*? on node '[^']*'")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_OPAQUE = re.compile(r"<(?!torch\.ops\.)[A-Za-z_]")


class Argument(NamedTuple):
    """An argument of a call."""

    text: str
    """With `{}` for each input."""
    inputs: tuple[int, ...]
    """Positions among the node's inputs, in order."""


@lru_cache(maxsize=8192)
def read_call(text: str, schema: str) -> dict[str, Argument]:
    """The arguments that differ from their defaults, by name; by position where none is known.

    torch writes the same call in several ways: by keyword or not, with defaults or without.

    Args:
        text: a node's arguments as the Record has them, `({0}, [batch, 4], alpha=2)`.
        schema: of its op; empty where it has none.
    """
    declared = schema_arguments(schema) if schema else ()
    by_position, by_name = call_arguments(text)
    named = {
        declared[at].name if at < len(declared) else str(at): part
        for at, part in enumerate(by_position)
    }
    defaults = {argument.name: argument.default for argument in declared}
    return {
        name: _argument(part)
        for name, part in sorted({**named, **by_name}.items())
        if part != (defaults.get(name) or "").replace('"', "'")
    }


def _argument(text: str) -> Argument:
    inputs = tuple(int(match[1]) for match in _PIECE.finditer(text) if match[1])
    return Argument(blank(text), inputs)


@lru_cache(maxsize=8192)
def blank(text: str) -> str:
    """Arguments with one mark for every input: which it is, the edges say.

    A message that torch writes of names of nodes and symbols is one mark as well.
    """
    marked = _PIECE.sub(lambda piece: "{}" if piece[1] else piece[0], text)
    return _TORCHS_MESSAGE.sub("Runtime assertion failed", marked)


def fill(text: str, names: Sequence[str]) -> str:
    """Arguments with the name of each input; a place without one, as in a bad file, stays."""

    def name(piece: re.Match[str]) -> str:
        if not piece[1]:
            return piece[0][0]
        return names[int(piece[1])] if int(piece[1]) < len(names) else piece[0]

    return _PIECE.sub(name, text)


def holds_opaque(text: str) -> bool:
    """Whether an argument is an object of which only the class is known."""
    return "<" in text and _OPAQUE.search(_QUOTED.sub("", text)) is not None
