"""Which of the conditions that a trace recorded made a size one number, or equal to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from export_engine.sizes import Condition, compile_condition
from export_engine.torch_internals import symbol_printer
from export_engine.traced_sizes.trace_facts import InputDim, SizeCondition, SizeFacts


def function_of(condition: Any, root: Any) -> Condition:
    """A condition on one root symbol, as a function of its size."""
    return compile_condition(symbol_printer({str(root): "size"})(condition), "size")


def fixing_condition(facts: SizeFacts, dim: InputDim) -> SizeCondition | None:
    """The last condition that holds for one size of a dim, or of one that it is equal to.

    Where dims have one name, what says that they are equal fixes neither.
    """
    examples = {s: dim.example for s, place in facts.places.items() for dim in _at(facts, place)}
    reached = {s for s, place in facts.places.items() if place == dim.place}
    about: list[SizeCondition] = []
    while True:
        conditions = [condition for condition in facts.conditions if reached & _symbols(condition)]
        fixing = [condition for condition in conditions if _fixes_one(condition, examples)]
        about = about or conditions
        more = {
            s
            for condition in conditions
            if not condition.condition.free_symbols
            for s in _symbols(condition)
        }
        if fixing or more <= reached:
            break
        reached |= more
    conditions = (
        fixing
        or [condition for condition in about if not condition.condition.free_symbols]
        or about
    )
    return conditions[-1] if conditions else None


def _at(facts: SizeFacts, place: object) -> list[InputDim]:
    return [dim for dim in facts.dims if dim.place == place]


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
    for condition in facts.conditions:
        places = {str(facts.places.get(str(s))) for s in condition.recorded.free_symbols}
        if str(dim.place) in places and (wanted <= places) and not condition.condition.free_symbols:
            return condition
    about = (
        condition
        for condition in facts.conditions
        if str(dim.place)
        in {str(facts.places.get(str(s))) for s in condition.recorded.free_symbols}
        and len(condition.recorded.free_symbols) > 1
    )
    return next(about, None)
