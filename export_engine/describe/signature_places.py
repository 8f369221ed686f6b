"""Where symbols stand in a program's signature. It imports no torch: archives use it, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from export_engine.describe.value_table import ValueTable
from export_engine.record import Place, Signature


def symbol_places(signature: Signature, values: ValueTable[Any]) -> Iterator[Place]:
    """Every symbolic dim of a user input or an output."""
    for number, entry in enumerate(signature.inputs):
        if entry.kind == "user_input":
            yield from _dims("input", number, entry.path or entry.name, entry.type, values)
    for number, output in enumerate(signature.outputs):
        shown = f"output {output.path or number}"
        yield from _dims("output", number, shown, output.type, values)


def _dims(
    io: Literal["input", "output"],
    number: int,
    shown: str,
    type_number: int,
    values: ValueTable[Any],
) -> Iterator[Place]:
    kind = values.entry(type_number).kind
    for dim, size in enumerate(values.sizes(type_number)):
        if isinstance(size, str):
            if kind == "tensor":
                yield Place(io, number, dim, f"{shown}.shape[{dim}]", size)
            else:
                yield Place(io, number, -1, shown, size)
