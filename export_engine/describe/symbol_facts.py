"""What is known of a symbol: its range, the example's size and where it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from export_engine.describe.signature import symbol_places
from export_engine.describe.source import ProgramSource
from export_engine.describe.symbols import Symbols
from export_engine.describe.value_table import Values
from export_engine.record import Bound, Place, Signature, Symbol
from export_engine.sizes import name_symbol

_UNBACKED = ("u", "zuf")
"""How torch's names of symbols begin that have no value while tracing."""


class SymbolFacts(NamedTuple):
    """A symbol's least and greatest value, both allowed, and the example's; None if not known."""

    lower: int | None
    upper: int | None
    example: int | None


def facts_of_program(source: ProgramSource) -> Callable[[str], SymbolFacts]:
    """A program's facts about a symbol, by torch's name."""

    def facts(symbol: str) -> SymbolFacts:
        lower, upper = source.ranges.get(name_symbol(symbol), (None, None))
        return SymbolFacts(lower, upper, source.find_example(symbol))

    return facts


def describe_symbols(
    symbols: Symbols,
    facts: Callable[[str], SymbolFacts],
    places: Mapping[int, list[Place]],
    find_birth: Callable[[str], int] = lambda _: -1,
) -> list[Symbol]:
    """Every symbol that a size of the program or a guard is made of, by number.

    Args:
        symbols: of the program, complete: every size has been read by now.
        facts: what is known of one.
        places: where each one is used, by number.
        find_birth: the number of the stack at which tracing made one.
    """
    described = []
    for number, name in enumerate(symbols.table.entries):
        symbol_facts = facts(name)
        kind = "unbacked" if name.startswith(_UNBACKED) else "backed"
        described.append(
            Symbol(
                symbols.name(name),
                name,
                kind,  # type: ignore[arg-type]
                *symbol_facts,
                places.get(number, []),
                find_birth(name),
                bounds=list(default_bounds(kind, symbol_facts.lower, symbol_facts.upper)),
            )
        )
    return described


def places_of_symbols(
    signature: Signature, values: Values, symbols: Symbols
) -> dict[int, list[Place]]:
    """Where symbols are used in a signature, by their numbers."""
    groups: dict[int, list[Place]] = {}
    for place in symbol_places(signature, values):
        for number in symbols.entry(place.size).symbols:
            groups.setdefault(number, []).append(place)
    return groups


_BORN = 2
"""torch specializes on 0 and 1: a dynamic size is assumed to be 2 or more."""
_DEFAULTS = {
    0: "no size is negative",
    1: "no size is negative, and 0 is excluded",
    2: "torch assumes that every dynamic size is at least 2, and specializes on 0 and 1",
}


def default_bounds(kind: str, lower: int | None, upper: int | None) -> Iterator[Bound]:
    """The bounds of a symbol's range that are not open.

    Args:
        kind: of the symbol, `backed` or `unbacked`.
        lower: its least value.
        upper: its greatest value.
    """
    sides: tuple[tuple[Literal["lower", "upper"], int | None], ...]
    sides = ("lower", lower), ("upper", upper)
    for side, value in sides:
        if value is None:
            continue
        if kind == "unbacked" and (lower, upper) == (0, 1):
            yield Bound(side, value, "default", "it is 0 or 1, as a bool is")
        elif side == "lower" and value <= _BORN:
            yield Bound(side, value, "default", _DEFAULTS[min(max(value, 0), 2)])
        else:
            yield Bound(side, value, "default", "follows from the other bounds")
