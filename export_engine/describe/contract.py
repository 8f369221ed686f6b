"""The shape contract: symbols with ranges and places, guards and their effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from export_engine.attempt import Attempt
from export_engine.describe.assumptions import BY_SHAPES, is_assumed
from export_engine.describe.bounds import bounds_of
from export_engine.describe.signature_places import symbol_places
from export_engine.describe.symbol_facts import facts_of_program, facts_of_trace
from export_engine.describe.symbol_names import Symbols
from export_engine.describe.tables import Stacks
from export_engine.describe.values import Values
from export_engine.record import Guard, Place, Signature, Symbol, interval
from export_engine.shapes import InputPlace, Shapes
from export_engine.torch_internals import ProgramSource, int_bound, is_unbacked, symbols_left
from export_engine.trace import Narrowing, RecordedGuard, Recording, Replacement

Consequence = Narrowing | Replacement


class Guards:
    """The recorded guards, in order; the same condition asked for by the same line is folded."""

    def __init__(self, recording: Recording) -> None:
        self.groups: list[list[RecordedGuard]] = []
        """Per folded guard, those that were recorded."""
        self.number: list[int] = []
        """Per recorded guard, its folded one."""
        folded: dict[tuple[str, Any], int] = {}
        for guard in recording.guards:
            number = folded.setdefault((_said(guard.condition), guard.stack), len(self.groups))
            if number == len(self.groups):
                self.groups.append([])
            self.groups[number].append(guard)
            self.number.append(number)
        self.consequences: list[list[Consequence]] = [[] for _ in self.groups]
        for event in recording.events:
            if isinstance(event, Narrowing | Replacement) and event.cause >= 0:
                self.consequences[self.number[event.cause]].append(event)


def _said(condition: Any) -> str:
    """What a condition says: the same for `0 <= 2*a` and `2*a >= 0`."""
    if not getattr(condition, "is_Relational", False):
        return str(condition)
    return min(str(condition), str(condition.reversed))


def describe_symbols(
    program: ProgramSource | None,
    attempt: Attempt,
    signature: Signature,
    symbols: Symbols,
    values: Values,
    stacks: Stacks,
    born: Mapping[str, InputPlace],
) -> list[Symbol]:
    """Every symbol that a size of the program or a guard is made of, by number.

    Args:
        program: None for a failed attempt, whose ranges are what its trace knew last.
        attempt: whose.
        signature: of the program.
        symbols: of the program.
        values: the Record's value types.
        stacks: of the Record.
        born: per torch's name of a symbol, the input dim it was made for.
    """
    births = {str(birth.symbol): birth for birth in attempt.recording.births}
    facts = facts_of_program(program) if program is not None else facts_of_trace(attempt.recording)
    places = list(symbol_places(signature, values))
    described = []
    for symbol in symbols.table.entries:  # complete: every size has been read by now
        torch_name = str(symbol)
        number = symbols.number(symbol)
        birth = births.get(torch_name)
        known = facts(symbol)
        stands = [place for place in places if number in _symbols_of(place.size, symbols)]
        if program is None and torch_name in born:
            same = [each for each in born if symbols.key(each) == symbols.key(torch_name)]
            stands = [_asked(born[each], symbols.text(symbol)) for each in same]
        described.append(
            Symbol(
                symbols.name(symbol),
                torch_name,
                "unbacked" if is_unbacked(symbol) else "backed",
                known.lower,
                known.upper,
                known.example,
                stands,
                stacks.number(birth.stack) if birth else -1,
            )
        )
    return described


def _asked(place: InputPlace, size: str) -> Place:
    """Where a size of a failed attempt stands: it has no signature to point into."""
    return Place("input", -1, place.position, str(place), size)


def describe_guards(
    program: ProgramSource | None,
    guards: Guards,
    symbols: Symbols,
    stacks: Stacks,
    places: Mapping[str, InputPlace],
    signature: Signature,
    shapes: Shapes | None,
) -> list[Guard]:
    """The guards with their lines and effects.

    Args:
        program: None for a failed attempt.
        guards: what was recorded.
        symbols: of the program.
        stacks: of the Record.
        places: per torch's name of a symbol, the input dim it was made for.
        signature: of the program.
        shapes: what was asked for.
    """
    entries = {entry.path: number for number, entry in enumerate(signature.inputs) if entry.path}
    ranges = {str(key) for key in program.range_constraints} if program else set()
    described = []
    for same, consequences in zip(guards.groups, guards.consequences, strict=True):
        condition = same[0].condition
        involved = _left(program, condition, symbols, ranges)
        about = (places.get(str(each)) for each in condition.free_symbols)
        effect, result = _effect(consequences, symbols)
        described.append(
            Guard(
                symbols.guard_text(condition),
                str(condition),
                sorted({symbols.number(symbol) for symbol in involved}),
                same[0].kind,  # type: ignore[arg-type]
                stacks.number(same[0].stack),
                len(same),
                effect,
                result,
                BY_SHAPES if is_assumed(same[0], shapes, symbols) else same[0].asked_by,
                sorted({entries[each.path] for each in about if each and each.path in entries}),
            )
        )
    return described


def _left(
    program: ProgramSource | None, condition: Any, symbols: Symbols, ranges: set[str]
) -> set[Any]:
    """The symbols of a condition that are in the program; of a failure, all of them."""
    if program is None:
        return set(condition.free_symbols)
    return {
        symbol
        for symbol in symbols_left(program, condition)
        if symbols.known(symbol) or str(symbol) in ranges
    }


def with_bounds(
    described: Sequence[Symbol],
    attempt: Attempt,
    recorded: Guards,
    guards: Sequence[Guard],
    shapes: Shapes | None,
) -> list[Symbol]:
    """The symbols with where their bounds come from."""
    texts = [guard.text for guard in guards]
    found = bounds_of(described, attempt.recording, recorded.number, texts, shapes, attempt.request)
    return [
        msgspec.structs.replace(symbol, bounds=bounds)
        for symbol, bounds in zip(described, found, strict=True)
    ]


def with_kept(guards: Sequence[Guard], kept: set[int]) -> list[Guard]:
    """The guards; one without effect that the program does not check is implied."""
    return [
        msgspec.structs.replace(guard, effect="implied")
        if guard.effect == "kept" and guard.kind == "guard" and number not in kept
        else guard
        for number, guard in enumerate(guards)
    ]


def narrowed_text(event: Narrowing, symbols: Symbols) -> str:
    """`batch in [2, 16]`."""
    within = interval(int_bound(event.lower), int_bound(event.upper))
    return f"{symbols.guard_text(event.symbol)} in {within}"


def replaced_text(event: Replacement, symbols: Symbols) -> str:
    """`y.shape[0] = seq`."""
    symbol, value = symbols.born(event.symbol), symbols.guard_text(event.value)
    return f"{symbol} = {value if value != symbol else symbols.born(event.value)}"


def _effect(
    consequences: Sequence[Consequence], symbols: Symbols
) -> tuple[Literal["narrows", "fixes", "equates", "kept"], str]:
    """The strongest effect of a guard, and what is known since."""
    replaced = [each for each in consequences if isinstance(each, Replacement)]
    narrowed = [each for each in consequences if isinstance(each, Narrowing)]
    fixed = [each for each in replaced if each.value.is_number]
    if fixed:
        return "fixes", ", ".join(replaced_text(each, symbols) for each in fixed)
    if replaced:
        return "equates", ", ".join(replaced_text(each, symbols) for each in replaced)
    if narrowed:
        last = {each.symbol: each for each in narrowed}
        return "narrows", ", ".join(narrowed_text(each, symbols) for each in last.values())
    return "kept", ""


def _symbols_of(text: str, symbols: Symbols) -> list[int]:
    return symbols.expression(text).symbols
