"""A program that rejects sizes which eager accepts, as a failure of which fixes can be looked for.

A condition on one size that has a name fails the export. One that relates two does not: torch keeps
it as a guard, the program holds for the sizes that fulfil it, and a call at others is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from export_engine.attempt import Diagnosis, Exported, Failed, Kind
from export_engine.diagnose import SizesViolated
from export_engine.shapes import Named, ShapeViolation, SizeCondition, SizeFacts, size_facts
from export_engine.source import Stack, in_the_model

_FAR = 64
"""How far from the example's size one is looked for that a condition excludes."""
_MOST = 3


def as_failure(attempt: Exported) -> Failed | None:
    """The failure that a refusal is: a problem for each condition that the refused sizes break.

    None where no call was refused, or for no condition that a line of the model's asked for.

    Args:
        attempt: one with its `agreement`.
    """
    trials = attempt.agreement.trials if attempt.agreement is not None else ()
    refused = next((trial for trial in trials if trial.outcome == "refused"), None)
    facts = size_facts(attempt) if refused is not None else None
    if facts is None or refused is None:
        return None
    problems = tuple(_problems(facts, refused.sizes))
    if not problems:
        return None
    first = problems[0]
    return Failed(
        request=attempt.request,
        recording=attempt.recording,
        title=attempt.title,
        error=ValueError(f"the program rejects a call that eager accepts: {refused.detail}"),
        diagnosis=Diagnosis(
            kind=Kind.SHAPES_VIOLATED,
            sentence=f"The program rejects calls that eager accepts: {first.text}.",
            why="The trace follows the example, and is correct only if this condition holds.",
            stack=first.stack,
            facts=SizesViolated(problems),
        ),
    )


def _problems(facts: SizeFacts, sizes: Mapping[str, int]) -> Iterator[ShapeViolation]:
    """Of each condition that some sizes break, in the order of the trace: what excludes them."""
    symbols = {name: symbol for symbol, name in facts.names.items()}
    at = {symbols[name]: size for name, size in sizes.items() if name in symbols}
    for condition in facts.conditions:
        stack = in_the_model(condition.stack)
        if stack and _holds(condition, at) is False:
            yield from _of_dims(facts, condition, stack)


def _of_dims(facts: SizeFacts, condition: SizeCondition, stack: Stack) -> Iterator[ShapeViolation]:
    example = {str(symbol): size for symbol, size in facts.examples.items()}
    text = facts.text(condition.recorded)
    for dim in facts.dims:
        symbol = str(dim.value)
        if not isinstance(dim.wanted, Named) or symbol not in _symbols_of(condition):
            continue
        near = sorted(range(2, dim.example + _FAR), key=lambda size: abs(size - dim.example))
        excluded = [n for n in near if _holds(condition, {**example, symbol: n}) is False]
        if excluded:
            yield ShapeViolation(
                "range", f"the code relies on {text}", (dim,), stack, text, tuple(excluded[:_MOST])
            )


def _symbols_of(condition: SizeCondition) -> set[str]:
    return {str(symbol) for symbol in condition.recorded.free_symbols}


def _holds(condition: SizeCondition, sizes: Mapping[str, int]) -> bool | None:
    """Whether a condition holds at some sizes, by torch's names of them; None if that is open."""
    symbols = condition.recorded.free_symbols
    if any(str(symbol) not in sizes for symbol in symbols):
        return None
    result = condition.recorded.subs({symbol: sizes[str(symbol)] for symbol in symbols})
    return bool(result) if result in (True, False) else None
