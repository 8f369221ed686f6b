"""The user's names of torch's symbols: the name of their Dim, else `x.shape[0]`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import torch

from export_engine.shapes import Shapes
from export_engine.torch_internals import expression_of
from export_engine.trace import SymbolBirth
from export_engine.traced_sizes import birth_dims


@dataclass(frozen=True)
class Leaf:
    """A user input of the flat program: its path in the call, and its traced value."""

    path: str
    value: Any


def birth_places(births: list[SymbolBirth], paths: list[str]) -> dict[str, str]:
    """The input dim that each symbol was made for, in the user's terms: `x.shape[0]`."""
    return {symbol: str(place) for symbol, place in birth_dims(births, paths).items()}


def user_names(leaves: list[Leaf], shapes: Shapes | None) -> dict[str, str]:
    """The user's name of each symbol that is some input's dim.

    Args:
        leaves: the program's user inputs.
        shapes: what the user asked for.
    """
    names: dict[str, str] = {}
    loose: dict[str, str] = {}
    fallback: dict[str, str] = {}
    for leaf in leaves:
        tensor = isinstance(leaf.value, torch.Tensor)
        for position, size in enumerate(leaf.value.shape if tensor else [leaf.value]):
            if not isinstance(size, torch.SymInt):
                continue
            expression, known = expression_of(size), shapes if tensor else None
            text = known.symbol_name(leaf.path, position) if known else None
            left = known.loose_name(leaf.path, position) if known else None
            for symbol in map(str, expression.free_symbols):
                if text is not None:
                    names.setdefault(symbol, text)
                elif expression.is_Symbol:
                    place = f"{leaf.path}.shape[{position}]" if tensor else leaf.path
                    fallback.setdefault(symbol, place)
                    if left is not None:
                        loose.setdefault(symbol, left)
    return fallback | _certain(loose, names) | names


def _certain(loose: dict[str, str], names: dict[str, str]) -> dict[str, str]:
    """The names of sizes that torch was not told, of which each is one symbol's alone."""
    often = Counter(loose.values())
    return {
        symbol: name
        for symbol, name in loose.items()
        if often[name] == 1 and name not in names.values()
    }
