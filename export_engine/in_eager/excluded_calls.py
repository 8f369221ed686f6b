"""Calls that a condition of the trace excludes: what the model does with them, and the program.

A trace follows the path of the example, and what it needs of a size holds for that path alone.
Where eager runs at sizes that an assumption excludes, the program gives these up, and the model
does not require it. A condition on two sizes does not fail the export: torch keeps it as a guard,
and that a call is rejected is a failure of which fixes can be looked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from export_engine.attempt import Diagnosis, Exported, Failed, Kind, Request
from export_engine.diagnose import FOR_OTHERS, SizesViolated
from export_engine.shapes import Named, Relation, Shapes
from export_engine.source import Stack, in_the_model
from export_engine.traced_sizes import (
    ShapeViolation,
    SizeCondition,
    SizeFacts,
    example_sizes,
    leaf_values,
    name_of,
    size_facts,
    with_size,
)
from export_engine.verify import runs_in_eager

_FAR = 4096
"""How far from the example's size others are searched."""
_MOST = 3
_MOST_RUNS = 6
_MOST_ELEMENTS = 2**22
_MOST_TIMES = 8
"""Limits on the elements of all inputs, absolute and as a multiple of the example's: a model that
is run on more may take all memory."""


class Call(NamedTuple):
    """A call with one size changed."""

    name: str
    size: int
    request: Request


def iter_excluded_calls(request: Request, shapes: Shapes, relation: Relation) -> Iterator[Call]:
    """Calls at sizes that the shapes allow and a relation does not, the nearest ones; none at 0."""
    sizes = example_sizes(shapes, leaf_values(request))
    for name in relation.names:
        number = 0
        for size in _near(sizes.get(name)):
            others = {**sizes, name: size}
            if relation.holds(others) or not _within(shapes, {name: size}, others):
                continue
            yield Call(name, size, resize(request, shapes, name, size))
            number += 1
            if number == _MOST:
                break


def find_accepted_call(
    request: Request, shapes: Shapes, relations: Sequence[Relation]
) -> Call | None:
    """A call that relations exclude and the model takes in eager; None where none was found."""
    calls = [c for relation in relations for c in iter_excluded_calls(request, shapes, relation)]
    for call in calls[:_MOST_RUNS]:
        if runs_in_eager(call.request):
            return call
    return None


def calls_without(request: Request, problem: ShapeViolation) -> Iterator[tuple[int, Request]]:
    """The sizes that a problem's condition excludes, but those of inputs too large to run on.

    Each with the call at that size.
    """
    places = [dim.place for dim in problem.changed or problem.dims]
    shapes = {
        path: list(v.shape) for path, v in leaf_values(request).items() if hasattr(v, "shape")
    }
    most = max(_MOST_ELEMENTS, _MOST_TIMES * sum(map(math.prod, shapes.values())))
    for size in problem.excluded:
        changed = {path: list(shape) for path, shape in shapes.items()}
        for path, position in places:
            if path in changed:
                changed[path][position] = size
        if sum(map(math.prod, changed.values())) <= most:
            yield size, with_size(request, places, size)


def allows_any(request: Request, others: Iterable[Request]) -> bool:
    """Whether a request's shapes allow the sizes of one of some calls."""
    shapes = request.shapes
    return shapes is not None and any(allows(shapes, other) for other in others)


def _near(example: int | None) -> Iterator[int]:
    """Sizes from the nearest to the example's, smaller ones first."""
    if example is None:
        return
    for far in range(1, _FAR):
        if example - far >= 1:
            yield example - far
        yield example + far


def allows(shapes: Shapes, request: Request) -> bool:
    """Whether the sizes of a call keep to all that is declared of them."""
    values = leaf_values(request)
    sizes = example_sizes(shapes, values)
    for path, specs in shapes.leaves.items():
        value = getattr(values.get(path), "shape", ())
        for spec, size in zip(specs, value, strict=False):
            if isinstance(spec, Named) and spec.derived:
                number, rest = divmod(size - spec.offset, spec.scale)
                if rest or sizes.setdefault(spec.name, number) != number:
                    return False
    return _within(shapes, sizes, sizes)


def _within(shapes: Shapes, names: Iterable[str], sizes: Mapping[str, int]) -> bool:
    """Whether some sizes are within their bounds, and all fulfil the assumptions."""
    ints, dims = shapes.ints(), shapes.dims()
    for name in names:
        number = ints.get(name)
        low, high = (number.low, number.high) if number else dims.get(name, (None, None))
        if (low is not None and sizes[name] < low) or (high is not None and sizes[name] > high):
            return False
    relations = [a for a in shapes.assumptions if sizes.keys() >= {*a.names}]
    return all(relation.holds(sizes) for relation in relations)


def resize(request: Request, shapes: Shapes, name: str, size: int) -> Request:
    """The request with every dim, or int, of a name at a size."""
    values = leaf_values(request)
    places = [
        (path, p if hasattr(values.get(path), "shape") else -1)
        for path, specs in shapes.leaves.items()
        for p in range(len(specs))
        if shapes.size_name(path, p) == name and shapes.find_expression(path, p) is None
    ]
    return with_size(request, places, size)


_MOST_CONDITIONS = 3
_MOST_SIZES = 4
_WHY = (
    "The code branches on the size. The trace follows the example's branch, and the program is "
    "correct only for sizes that take it."
)
_BROADCASTS = (
    "Sizes that broadcast are equal, or one is 1. While tracing, torch assumes that no "
    "dynamic size is 1, so these need one name."
)


def confirm_conditions(attempt: Failed) -> Diagnosis | None:
    """The diagnosis without conditions that eager does not require."""
    diagnosis, request = attempt.diagnosis, attempt.request
    facts = diagnosis.facts if diagnosis is not None else None
    if diagnosis is None or request is None or not isinstance(facts, SizesViolated):
        return diagnosis
    for problem in facts.problems[:_MOST_CONDITIONS]:
        size = find_accepted_size(problem, request)
        if size is not None:
            sentence = diagnosis.sentence.replace(problem.text, as_traced(problem, size))
            sentence = sentence.replace(FOR_OTHERS, ": for some sizes")
            why = {"fixed": diagnosis.why, "equal": _BROADCASTS}.get(problem.kind, _WHY)
            diagnosis = replace(diagnosis, sentence=_begun(sentence), why=why)
    return diagnosis


def as_traced(problem: ShapeViolation, size: int) -> str:
    """A problem as what the trace needs, where the model takes another size: a clause."""
    if problem.kind == "fixed":
        dim = problem.dims[0]
        fixed = f"{name_of(dim)} is fixed at {dim.example} while tracing"
        return f"{fixed} (the model also runs at {size})"
    if problem.kind == "tied":
        text = problem.text.removesuffix(" must hold")
        other = f"{name_of(problem.changed[0])} = {size}"
    else:
        text = problem.text.replace(" must be ", " is ", 1).replace(" must not be ", " is not ", 1)
        other = f"{name_of(problem.changed[0])} = {size}" if problem.changed else str(size)
    return f"the program is correct only if {text} (the model also runs at {other})"


def _begun(sentence: str) -> str:
    return f"T{sentence[1:]}" if sentence.startswith("the program") else sentence


def find_accepted_size(problem: ShapeViolation, request: Request) -> int | None:
    """A size that a problem's condition excludes and the eager model takes; None if none is."""
    for size, call in islice(calls_without(request, problem), _MOST_SIZES):
        if runs_in_eager(call):
            return size
    return None


_NEAR = 64
"""How far from the example's size one is looked for that a condition excludes."""


def as_failure(attempt: Exported) -> Failed | None:
    """The failure that a refusal is: a problem for each condition that the refused sizes break.

    None where no call was refused, or for no condition that a line of the model's asked for.
    """
    refused = next((trial for trial in attempt.trials if trial.outcome == "refused"), None)
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
    """For each condition that some sizes break, in the order of the trace: what excludes them."""
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
        near = sorted(range(2, dim.example + _NEAR), key=lambda size: abs(size - dim.example))
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
