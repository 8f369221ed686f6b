"""Arguments of a node as text, with placeholders for other nodes.

The text of `view(x, [batch, -1])` is `({0}, [batch, -1])` with the inputs `[x]`: equal for every
layer of a model, so a Record stores it once.

A saved program does not tell a list from a tuple, and torch takes either: the operands of a
higher-order operator and the outputs of a graph are always written as tuples, those of other
operators as lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from export_engine.record import sequence_text, string_text


class Position(int):
    """The position of a node that an argument is."""


class Words(str):
    """The text of an argument that is neither a plain value nor a container."""


Atom = Callable[[Any], Position | Words]
"""The printer of an argument that is neither a plain value nor a container."""


def print_argument(
    value: Any, inputs: list[int], sequences: type | None = None, atom: Atom = Words
) -> str:
    """The text of an argument.

    Args:
        value: the argument.
        inputs: the nodes that holes stand for; those of this argument are added.
        sequences: as what each sequence is written, `list` or `tuple`; None to keep its type.
        atom: of whatever is not a plain Python value.
    """
    if isinstance(value, tuple | list):
        items = [print_argument(item, inputs, sequences, atom) for item in value]
        is_tuple = isinstance(value, tuple) if sequences is None else sequences is tuple
        return sequence_text(items, is_tuple)
    if isinstance(value, dict):
        items = [
            f"{_escape(_print_plain(key, atom))}: {print_argument(item, inputs, sequences, atom)}"
            for key, item in value.items()
        ]
        return f"{{{{{', '.join(items)}}}}}"
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        return f"slice({', '.join([print_argument(end, inputs, sequences, atom) for end in ends])})"
    result = _print_plain(value, atom)
    if isinstance(result, Position):
        inputs.append(int(result))
        return f"{{{len(inputs) - 1}}}"
    return _escape(result)


def _print_plain(value: Any, atom: Atom) -> Position | str:
    if isinstance(value, Words | Position):
        return value
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, bool | int | float | complex | None):
        return repr(value)
    return atom(value)


def _escape(text: Any) -> str:
    return str(text).replace("{", "{{").replace("}", "}}")
