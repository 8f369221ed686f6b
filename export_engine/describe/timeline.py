"""The symbols' events while tracing, in order, in the user's terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from export_engine.attempt import Attempt
from export_engine.describe.contract import Guards, describe_narrowing, describe_replacement
from export_engine.describe.symbols import Symbols
from export_engine.describe.tables import Stacks
from export_engine.record import Event, Guard
from export_engine.sizes import name_symbol
from export_engine.torch_internals import symbol_value
from export_engine.trace import Narrowing, RecordedGuard, Replacement, SymbolBirth


def describe_timeline(
    attempt: Attempt, symbols: Symbols, stacks: Stacks, guards: Guards, described: Sequence[Guard]
) -> list[Event]:
    """Births, guards and their effects; immediate repeats are counted."""
    events: list[Event] = []
    number = -1
    for recorded in attempt.recording.events:
        if isinstance(recorded, RecordedGuard):
            number += 1
        event = _event(recorded, attempt, symbols, stacks, guards, described, number)
        last = events[-1] if events else None
        if last and msgspec.structs.replace(last, count=1) == event:
            events[-1] = msgspec.structs.replace(last, count=last.count + 1)
        else:
            events.append(event)
    return events


def _event(
    recorded: Any,
    attempt: Attempt,
    symbols: Symbols,
    stacks: Stacks,
    guards: Guards,
    described: Sequence[Guard],
    number: int,
) -> Event:
    if isinstance(recorded, RecordedGuard):
        folded = guards.number[number]
        guard = described[folded]
        return Event("guard", guard.text, guard.torch_text, guard.symbols, guard.stack, folded)
    numbers = symbols.find_number(str(recorded.symbol))
    if isinstance(recorded, SymbolBirth):
        text = _birth(recorded, attempt, symbols)
        torch_text = f"{recorded.symbol} = {recorded.source or 'from data'}"
        return Event("birth", text, torch_text, numbers, stacks.number(recorded.stack))
    folded = guards.number[recorded.cause] if recorded.cause >= 0 else -1
    stack = described[folded].stack if folded >= 0 else -1
    if isinstance(recorded, Narrowing):
        text = describe_narrowing(recorded, symbols)
        torch_text = f"{recorded.symbol} in [{recorded.lower}, {recorded.upper}]"
        return Event("range", text, torch_text, numbers, stack, folded)
    assert isinstance(recorded, Replacement)
    text = describe_replacement(recorded, symbols)
    return Event(
        "replacement", text, f"{recorded.symbol} = {recorded.value}", numbers, stack, folded
    )


def _birth(birth: SymbolBirth, attempt: Attempt, symbols: Symbols) -> str:
    symbol = str(birth.symbol)
    name, place = symbols.name(symbol), symbols.born(name_symbol(symbol))
    if not birth.source:
        return f"{name}: a data-dependent number"
    example = symbol_value(attempt.recording.shape_env, birth.symbol)
    named = symbols.is_named(symbol) and ".shape[" not in name
    where = f"{name}: {place}" if named else place
    return where if example is None else f"{where}, {example} in the example"
