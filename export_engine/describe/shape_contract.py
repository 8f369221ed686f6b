"""The whole shape contract: symbols, guards, timeline and size rules."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.attempt import Attempt
from export_engine.describe.call_sizes import CallSizes
from export_engine.describe.contract import (
    Guards,
    describe_guards,
    describe_symbols,
    with_bounds,
    with_kept,
)
from export_engine.describe.size_rules import describe_probe
from export_engine.describe.symbol_names import Symbols
from export_engine.describe.tables import Stacks
from export_engine.describe.timeline import describe_timeline
from export_engine.describe.values import Values
from export_engine.record import Event, Guard, Probe, Signature, Symbol
from export_engine.shapes import Shapes, birth_dims
from export_engine.torch_internals import ProgramSource


class Contract(NamedTuple):
    """The shape contract, described."""

    symbols: list[Symbol]
    guards: list[Guard]
    timeline: list[Event]
    probe: Probe


def describe_contract(
    attempt: Attempt,
    program: ProgramSource | None,
    paths: list[str],
    shapes: Shapes | None,
    symbols: Symbols,
    stacks: Stacks,
    signature: Signature,
    values: Values,
) -> Contract:
    """All of it.

    Args:
        attempt: whose.
        program: its program; None for a failure.
        paths: of the user inputs.
        shapes: what was asked for.
        symbols: of the program.
        stacks: of the Record.
        signature: of the program, described.
        values: the Record's value types.
    """
    recorded = Guards(attempt.recording)
    born = birth_dims(attempt.recording.births, paths)
    guards = describe_guards(program, recorded, symbols, stacks, born, signature, shapes)
    sizes = CallSizes(program, paths, symbols) if program is not None else None
    timeline = describe_timeline(attempt, symbols, stacks, recorded, guards)
    described = describe_symbols(program, attempt, signature, symbols, values, stacks, born)
    described = with_bounds(described, attempt, recorded, guards, shapes)
    probe = Probe([], [], [])
    if program is not None and sizes is not None:
        probe, kept = describe_probe(
            program, attempt, sizes, described, guards, recorded.groups, values, symbols
        )
        guards = with_kept(guards, kept)
    return Contract(described, guards, timeline, probe)
