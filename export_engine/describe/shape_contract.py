"""The whole shape contract: symbols, guards, timeline and size rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from export_engine.attempt import Attempt
from export_engine.describe.call_sizes import CallSizes
from export_engine.describe.contract import (
    Guards,
    describe_guards,
    describe_narrowing,
    describe_replacement,
    facts_of_trace,
    places_of_trace,
    with_bounds,
    with_kept,
)
from export_engine.describe.graphs import Graphs
from export_engine.describe.live_source import LiveSource
from export_engine.describe.size_rules import Traced, describe_probe
from export_engine.describe.symbol_facts import (
    describe_symbols,
    facts_of_program,
    places_of_symbols,
)
from export_engine.describe.symbols import Symbols
from export_engine.describe.tables import Stacks
from export_engine.record import Event, Guard, Probe, Signature, Symbol
from export_engine.shapes import Shapes
from export_engine.sizes import name_symbol
from export_engine.torch_internals import symbol_value
from export_engine.trace import Narrowing, RecordedGuard, Replacement, SymbolBirth
from export_engine.traced_sizes import birth_dims


class Contract(NamedTuple):
    """The shape contract, described."""

    symbols: list[Symbol]
    guards: list[Guard]
    timeline: list[Event]
    probe: Probe


def shapes_of(attempt: Attempt) -> Shapes | None:
    """The request."""
    return attempt.request.shapes if attempt.request else None


def describe_contract(
    attempt: Attempt,
    source: LiveSource | None,
    paths: list[str],
    graphs: Graphs,
    signature: Signature,
) -> Contract:
    """All of it.

    Args:
        attempt: whose.
        source: its program; None for a failure.
        paths: of the user inputs.
        graphs: of the Record.
        signature: of the program, described.
    """
    recording, shapes = attempt.recording, shapes_of(attempt)
    symbols, stacks = graphs.symbols, graphs.stacks
    program = source.program if source else None
    recorded = Guards(recording)
    born = birth_dims(recording.births, paths)
    guards = describe_guards(program, recorded, symbols, stacks, born, signature, shapes)
    sizes = CallSizes(source, paths, symbols) if source else None
    timeline = _describe_timeline(attempt, symbols, stacks, recorded, guards)
    places = places_of_symbols(signature, graphs.values, symbols)
    births = {str(birth.symbol): birth.stack for birth in recording.births}
    described = describe_symbols(
        symbols,
        facts_of_program(source) if source else facts_of_trace(recording),
        places if source else places | places_of_trace(symbols, born),
        lambda symbol: stacks.number(births.get(symbol, ())),
    )
    described = with_bounds(described, attempt, recorded, guards, shapes)
    probe = Probe([], [], [])
    if program is not None and source is not None and sizes is not None:
        traced = Traced(guards, *recorded.conditions(program), born)
        probe, kept = describe_probe(source, sizes, described, symbols, traced)
        guards = with_kept(guards, kept)
    return Contract(described, guards, timeline, probe)


def _describe_timeline(
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
