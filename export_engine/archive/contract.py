"""The shape contract of an archive: its symbols with their ranges and places."""

from __future__ import annotations

from collections.abc import Mapping

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.expression_parser import parsed
from export_engine.archive.expressions import Expression, UnreadableError
from export_engine.archive.symbols import Symbols
from export_engine.archive.values import Values
from export_engine.describe import default_bounds, symbol_places
from export_engine.record import Place, Signature, Symbol

Ranges = Mapping[Expression, tuple[int | None, int | None]]
"""The ends of each size's range; None for one that is open."""

_INFINITE = 2**63 - 2
"""torch bounds a data-dependent number by the largest int that it can hold: no real bound."""


def read_ranges(program: schema.ExportedProgram) -> Ranges:
    """The ranges that a program keeps."""
    if len(program.range_constraints) > limits.SYMBOLS:
        raise ArchiveError(f"It has more than {limits.SYMBOLS:,} ranges.")
    found = {}
    for text, each in program.range_constraints.items():
        try:
            found[parsed(text)] = _end(each.min_val), _end(each.max_val)
        except UnreadableError:
            continue
    return found


def read_symbols(
    ranges: Ranges, symbols: Symbols, signature: Signature, values: Values
) -> list[Symbol]:
    """Every symbol that a size of the program is made of, by number."""
    places = symbol_places(signature, values)
    per_symbol: dict[int, list[Place]] = {}
    for place in places:
        for number in symbols.entry(place.size).symbols:
            per_symbol.setdefault(number, []).append(place)
    described = []
    for number, name in enumerate(symbols.table.entries):
        low, high = ranges.get(Expression("symbol", name=name), (None, None))
        described.append(
            Symbol(
                symbols.name(name),
                name,
                "unbacked" if name.startswith(("u", "zuf")) else "backed",
                low,
                high,
                symbols.examples.get(name),
                per_symbol.get(number, []),
                bounds=list(default_bounds(low, high)),
            )
        )
    return described


def _end(bound: int | None) -> int | None:
    return None if bound is None or abs(bound) >= _INFINITE else bound
