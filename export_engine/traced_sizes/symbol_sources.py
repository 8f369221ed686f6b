"""The input dim of a symbol, from torch's name of its source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from export_engine.trace import SymbolBirth

_SOURCE = re.compile(r"L\['(?P<root>\w+)'\](?P<path>.*?)(?:\.size\(\)\[(?P<dim>\d+)\])?")
_KEY = re.compile(r"\['?(\w+)'?\]|\.(\w+)")


class InputPlace(NamedTuple):
    """A dim of a tensor among the inputs, or an input that is itself a number."""

    path: str
    position: int
    """-1 for a number."""

    def __str__(self) -> str:
        return self.path if self.position < 0 else f"{self.path}.shape[{self.position}]"


def birth_dims(births: Iterable[SymbolBirth], paths: Sequence[str]) -> dict[str, InputPlace]:
    """The input dim that each symbol was made for, by torch's name of the symbol.

    Args:
        births: symbols with torch's name of their source, `L['x'].size()[0]`; in strict mode
            `L['flat_args'][0].size()[0]`, which counts the flat inputs.
        paths: the flat inputs' paths, in order.
    """
    places: dict[str, InputPlace] = {}
    for birth in births:
        place = source_place(birth.source, paths)
        if place is not None:
            places.setdefault(str(birth.symbol), place)
    return places


def source_place(source: str, paths: Sequence[str]) -> InputPlace | None:
    """The input dim that torch's name of a source means; None if it means something else."""
    match = _SOURCE.fullmatch(source)
    if match is None:
        return None
    keys = [bracket or dotted for bracket, dotted in _KEY.findall(match["path"])]
    path = ".".join([match["root"], *keys])
    if match["root"] == "flat_args" and keys and int(keys[0]) < len(paths):
        path = paths[int(keys[0])]
    elif path not in paths:
        path = _nearest(path, paths)
    return InputPlace(path, int(match["dim"]) if match["dim"] is not None else -1)


def _nearest(path: str, paths: Sequence[str]) -> str:
    """The input behind a source that names a container's attribute: `cache.layers.0.keys`.

    torch's sources go through attributes, pytree's paths through keys; where one input alone starts
    the same, it is that one.
    """
    root = path.split(".", maxsplit=1)[0]
    same = [text for text in paths if text == root or text.startswith(f"{root}.")]
    return same[0] if len(same) == 1 else path
