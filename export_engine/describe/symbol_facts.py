"""What is known of a symbol: its range and the example's size, by a program or by a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from export_engine.torch_internals import (
    ProgramSource,
    int_bound,
    known_range,
    replaced_sizes,
    symbol_hint,
    symbol_value,
)
from export_engine.trace import Recording


class SymbolFacts(NamedTuple):
    """A symbol's least and greatest value, both allowed, and the example's; None if not known."""

    lower: int | None
    upper: int | None
    example: int | None


def facts_of_program(program: ProgramSource) -> Callable[[Any], SymbolFacts]:
    """What a program says of a sympy symbol."""
    ranges = {str(key): bounds for key, bounds in program.range_constraints.items()}

    def facts(symbol: Any) -> SymbolFacts:
        bounds = ranges.get(str(symbol))
        example = symbol_hint(program, symbol)
        if bounds is None:
            return SymbolFacts(None, None, example)
        return SymbolFacts(int_bound(bounds.lower), int_bound(bounds.upper), example)

    return facts


def facts_of_trace(recording: Recording) -> Callable[[Any], SymbolFacts]:
    """What a trace knew last of a sympy symbol when it ended without a program."""
    env = recording.shape_env

    def facts(symbol: Any) -> SymbolFacts:
        example = symbol_value(env, symbol)
        equal = replaced_sizes(env, symbol)
        if equal.is_number:
            return SymbolFacts(int_bound(equal), int_bound(equal), example)
        return SymbolFacts(*known_range(env, equal if equal.is_Symbol else symbol), example)

    return facts
