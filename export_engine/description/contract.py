"""The shape contract: symbols with their ranges and places, and the guards that were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from torch.export import ExportedProgram

from export_engine.attempt import Attempt
from export_engine.description.symbols import Symbols
from export_engine.description.tables import Stacks
from export_engine.description.values import Values
from export_engine.record import Guard, Place, Signature, Symbol
from export_engine.recorder import RecordedGuard
from export_engine.torch_internals import int_bound, symbol_hint, symbols_left


def describe_symbols(
    program: ExportedProgram | None,
    attempt: Attempt,
    signature: Signature,
    symbols: Symbols,
    values: Values,
    stacks: Stacks,
) -> list[Symbol]:
    """Every symbol that a size of the program or a guard is made of, by number."""
    ranges = {
        str(key): bounds for key, bounds in (program.range_constraints if program else {}).items()
    }
    births = {str(birth.symbol): birth for birth in attempt.recording.births}
    places = _places(signature, values)
    described = []
    for symbol in symbols.table.entries:  # grows no more: every size has been read by now
        torch_name = str(symbol)
        number = symbols.number(symbol)
        bounds = ranges.get(torch_name)
        birth = births.get(torch_name)
        described.append(
            Symbol(
                symbols.name(symbol),
                torch_name,
                "unbacked" if _is_unbacked(torch_name) else "backed",
                int_bound(bounds.lower) if bounds is not None else None,
                int_bound(bounds.upper) if bounds is not None else None,
                symbol_hint(program, symbol) if program is not None else None,
                [place for place in places if number in _symbols_of(place.size, symbols)],
                stacks.number(birth.stack) if birth else -1,
            )
        )
    return described


def describe_guards(
    program: ExportedProgram | None, attempt: Attempt, symbols: Symbols, stacks: Stacks
) -> list[Guard]:
    """The recorded guards, in order; the same condition asked for by the same line is folded."""
    folded: dict[tuple[str, Any], list[RecordedGuard]] = {}
    for guard in attempt.recording.guards:
        folded.setdefault((str(guard.condition), guard.stack), []).append(guard)
    described = []
    for (torch_text, stack), same in folded.items():
        condition = same[0].condition
        involved = symbols_left(program, condition) if program else condition.free_symbols
        described.append(
            Guard(
                symbols.guard_text(condition),
                torch_text,
                sorted(symbols.number(symbol) for symbol in involved),
                same[0].kind,  # type: ignore[arg-type]
                stacks.number(stack),
                len(same),
            )
        )
    return described


def _places(signature: Signature, values: Values) -> list[Place]:
    """Every symbolic dim of a user input or an output."""
    found: list[Place] = []
    for number, entry in enumerate(signature.inputs):
        if entry.kind == "user_input":
            found.extend(_dims("input", number, entry.path or entry.name, entry.type, values))
    for number, output in enumerate(signature.outputs):
        name = f"output {output.path or number}"
        found.extend(_dims("output", number, name, output.type, values))
    return found


def _dims(
    io: Literal["input", "output"], number: int, shown: str, type_number: int, values: Values
) -> Iterator[Place]:
    kind = values.entry(type_number).kind
    for dim, size in enumerate(values.sizes(type_number)):
        if isinstance(size, str):
            if kind == "tensor":
                yield Place(io, number, dim, f"{shown}.shape[{dim}]", size)
            else:
                yield Place(io, number, -1, shown, size)


def _symbols_of(text: str, symbols: Symbols) -> list[int]:
    return symbols.expression(text).symbols


def _is_unbacked(torch_name: str) -> bool:
    return torch_name.startswith(("u", "zuf"))
