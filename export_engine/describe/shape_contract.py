"""The whole shape contract: symbols, guards, timeline and size rules."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.attempt import Attempt
from export_engine.describe.call_sizes import CallSizes
from export_engine.describe.contract import (
    Guards,
    describe_guards,
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
from export_engine.describe.timeline import describe_timeline
from export_engine.record import Event, Guard, Probe, Signature, Symbol
from export_engine.shapes import Shapes
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
    timeline = describe_timeline(attempt, symbols, stacks, recorded, guards)
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
