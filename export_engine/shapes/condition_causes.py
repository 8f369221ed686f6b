"""Which of the conditions that a trace recorded made a size one number, or equal to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from export_engine.shapes.range_solver import Condition, compiled
from export_engine.shapes.trace_facts import InputDim, SizeCondition, SizeFacts
from export_engine.torch_internals import symbol_printer


def function_of(condition: Any, root: Any) -> Condition:
    """A condition on one root symbol, as a function of its size."""
    return compiled(symbol_printer({str(root): "size"})(condition), "size")


def fixing_condition(facts: SizeFacts, dim: InputDim) -> SizeCondition | None:
    """The last condition that holds for one size of a dim, or of one that it is equal to.

    Where dims have one name, what says that they are equal fixes neither.
    """
    examples = {s: each.example for s, place in facts.places.items() for each in _at(facts, place)}
    reached = {s for s, place in facts.places.items() if place == dim.place}
    about: list[SizeCondition] = []
    while True:
        found = [each for each in facts.conditions if reached & _symbols(each)]
        fixing = [each for each in found if _fixes_one(each, examples)]
        about = about or found
        more = {s for each in found if not each.condition.free_symbols for s in _symbols(each)}
        if fixing or more <= reached:
            break
        reached |= more
    found = fixing or [each for each in about if not each.condition.free_symbols] or about
    return found[-1] if found else None


def _at(facts: SizeFacts, place: object) -> list[InputDim]:
    return [each for each in facts.dims if each.place == place]


def _symbols(each: SizeCondition) -> set[str]:
    """The names of the symbols in a condition, as it was recorded."""
    return {str(symbol) for symbol in each.recorded.free_symbols}


def _fixes_one(each: SizeCondition, examples: Mapping[str, int]) -> bool:
    """Whether a condition is on one symbol, and excludes the sizes next to the example's."""
    symbols = list(each.recorded.free_symbols)
    example = examples.get(str(symbols[0])) if len(symbols) == 1 else None
    if example is None:
        return False
    holds = function_of(each.recorded, symbols[0])
    return not holds(example + 1) and not holds(example - 1)


def joining_condition(facts: SizeFacts, first: InputDim, dim: InputDim) -> SizeCondition | None:
    """The condition that makes one dim equal to, or a formula of, another."""
    wanted = {str(first.place), str(dim.place)}
    for each in facts.conditions:
        places = {str(facts.places.get(str(s))) for s in each.recorded.free_symbols}
        if str(dim.place) in places and (wanted <= places) and not each.condition.free_symbols:
            return each
    about = (
        each
        for each in facts.conditions
        if str(dim.place) in {str(facts.places.get(str(s))) for s in each.recorded.free_symbols}
        and len(each.recorded.free_symbols) > 1
    )
    return next(about, None)
