"""Failures about sizes: requested shapes do not hold, or the example is outside them.

Uses the symbols, ranges and guards of the trace, not torch's message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind, Related
from export_engine.diagnose.errors import cause, message
from export_engine.diagnose.explanations import exportdb
from export_engine.diagnose.facts import (
    ExampleOutside,
    PinnedElsewhere,
    SizeLookedUp,
    SizesViolated,
    ZeroOrOne,
)
from export_engine.diagnose.failing_line import chain, failing_place, failing_stack
from export_engine.diagnose.size_reasons import always_fixes, makes_number, reason
from export_engine.diagnose.torch_messages import FORMATTED
from export_engine.shapes import Auto, Bounds, Dynamic, Named, Pinned
from export_engine.source import in_the_model
from export_engine.torch_internals import (
    expression_of,
    find_hashed_size,
    is_constraint_violation,
    is_unbacked,
)
from export_engine.traced_sizes import (
    InputDim,
    ShapeViolation,
    SizeFacts,
    list_tied_names,
    name_of,
    root_size,
    size_facts,
    solve,
    truncate_condition,
)


def diagnose_sizes(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a constraint violation; None for other failures."""
    if not any(is_constraint_violation(error) for error in chain(attempt.error)):
        return None
    facts = size_facts(attempt)
    if facts is None:
        return None
    if facts.pins:
        return _diagnose_pin_mismatch(facts.pins)
    outside = _outside(facts)
    if outside is not None:
        return _example_outside(facts, *outside)
    clash = one_name_two_sizes(facts)
    if clash is not None:
        return _one_name(*clash)
    problems = _in_order([_where_made(facts, problem) for problem in solve(facts).problems])
    if not problems:
        return _diagnose_unproved(attempt, facts)
    zero_one = [problem for problem in problems if problem.kind == "zero-one"]
    return _zero_one(zero_one) if zero_one else _diagnose_violation(attempt, problems)


def diagnose_size_as_key(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a dynamic size as the key of a dict or a set, which needs its number."""
    size = find_hashed_size(cause(attempt.error))
    facts = size_facts(attempt) if size is not None else None
    if facts is None:
        return None
    symbols = expression_of(size).free_symbols
    dims = [dim for dim in facts.dims if getattr(dim.value, "free_symbols", set()) & symbols]
    if not dims or any(is_unbacked(symbol) for symbol in symbols):
        return None
    place = failing_place(attempt.error)
    names = list(dict.fromkeys(map(name_of, dims)))
    text = f"`{place.text}`" if place.text else "this line"
    return Diagnosis(
        kind=Kind.SHAPES_VIOLATED,
        sentence=rules.ShapesViolated.SIZE_AS_KEY(listed=_join_names(names), said=text),
        why=rules.ShapesViolated.SIZE_AS_KEY_WHY(),
        stack=place.stack,
        span=place.span,
        links=exportdb(Kind.SHAPES_VIOLATED, "fixed"),
        facts=SizeLookedUp(tuple(dims)),
    )


def _diagnose_pin_mismatch(dims: tuple[InputDim, ...]) -> Diagnosis:
    text = "; ".join(
        f"{dim.place} is pinned to {dim.wanted.size}, but is {dim.example} in the example"
        for dim in dims
        if isinstance(dim.wanted, Pinned)
    )
    return Diagnosis(
        kind=Kind.EXAMPLE_OUT_OF_RANGE,
        sentence=rules.ExampleOutOfRange.PINNED_ELSEWHERE(said=text),
        why=rules.ExampleOutOfRange.PINNED_ELSEWHERE_WHY(),
        facts=PinnedElsewhere(dims),
    )


def _outside(facts: SizeFacts) -> tuple[InputDim, Bounds] | None:
    """The first dim whose example size is outside the requested range."""
    for dim in facts.dims:
        wanted = dim.wanted
        if isinstance(wanted, Named):
            low, high = facts.shapes.bounds.get(wanted.name, Bounds())
            size, rest = divmod(dim.example - wanted.offset, wanted.scale)
            bad = rest != 0
        elif isinstance(wanted, Auto | Dynamic):
            low, high, size, bad = wanted.low, wanted.high, dim.example, False
        else:
            continue
        if bad or (low is not None and size < low) or (high is not None and size > high):
            return dim, Bounds(low, high)
    return None


def one_name_two_sizes(facts: SizeFacts) -> tuple[InputDim, InputDim] | None:
    """Two dims with one name and different sizes in the example."""
    first: dict[str, tuple[InputDim, int]] = {}
    for dim in facts.dims:
        wanted = dim.wanted
        if isinstance(wanted, Named):
            size = (dim.example - wanted.offset) // wanted.scale
            result, other = first.setdefault(wanted.name, (dim, size))
            if size != other:
                return result, dim
    return None


def _one_name(first: InputDim, second: InputDim) -> Diagnosis:
    assert isinstance(first.wanted, Named)
    assert isinstance(second.wanted, Named)
    name = first.wanted.name
    named = "made of" if first.wanted.derived or second.wanted.derived else "called"
    return Diagnosis(
        kind=Kind.SHAPES_VIOLATED,
        sentence=rules.ShapesViolated.ONE_NAME(
            place=first.place,
            place2=second.place,
            named=named,
            name=name,
            example=first.example,
            example2=second.example,
        ),
        why=rules.ShapesViolated.ONE_NAME_WHY(name=name),
        facts=SizesViolated(()),
    )


def _example_outside(facts: SizeFacts, dim: InputDim, bounds: Bounds) -> Diagnosis:
    low = bounds.low or 0
    high = "∞" if bounds.high is None else str(bounds.high)
    return Diagnosis(
        kind=Kind.EXAMPLE_OUT_OF_RANGE,
        sentence=rules.ExampleOutOfRange.EXAMPLE_OUTSIDE(
            name_of=name_of(dim), example=dim.example, low=low, high=high
        ),
        why=rules.ExampleOutOfRange.EXAMPLE_OUTSIDE_WHY(),
        facts=ExampleOutside(dim, bounds),
    )


def _in_order(problems: Sequence[ShapeViolation]) -> list[ShapeViolation]:
    """The most important first; within a kind, in the order of the code."""
    order = ("zero-one", "fixed", "multiple", "range", "equal", "derived", "tied")

    def rank(problem: ShapeViolation) -> tuple[int, int, str]:
        line = problem.stack[-1].line if problem.stack else _LAST
        return order.index(problem.kind), line, problem.text

    return sorted(problems, key=rank)


def _where_made(facts: SizeFacts, problem: ShapeViolation) -> ShapeViolation:
    """The problem at the line above its own that makes a plain number of the same size, if any.

    After `side = int(n ** 0.5)`, a `reshape` to side × side fixes n, because side is one number.
    """
    if problem.kind != "fixed" or not problem.stack or always_fixes(problem.stack):
        return problem
    about = {name for name, place in facts.places.items() if place == problem.dims[0].place}
    for condition in facts.conditions:
        stack = in_the_model(condition.stack)
        if stack == problem.stack:
            break
        if {str(s) for s in condition.recorded.free_symbols} == about and makes_number(stack):
            return replace(
                problem, stack=stack, condition=truncate_condition(facts.text(condition.recorded))
            )
    return problem


def _diagnose_unproved(attempt: Failed, facts: SizeFacts) -> Diagnosis:
    """A violation by conditions that hold at every size tried, but that torch cannot prove."""
    conditions = [
        condition
        for condition in facts.conditions
        if condition.condition.free_symbols
        and condition.condition.free_symbols <= set(facts.ranges)
    ]
    last = conditions[-1] if conditions else None
    text = (
        f" that {truncate_condition(facts.text(last.condition))}"
        if last
        else " what the code relies on"
    )
    stack = in_the_model(last.stack) if last else ()
    return Diagnosis(
        kind=Kind.SHAPES_VIOLATED,
        sentence=rules.ShapesViolated.UNPROVED(said=text),
        why=rules.ShapesViolated.UNPROVED_WHY(),
        stack=stack or failing_stack(attempt.error),
        facts=SizesViolated(()),
    )


def _zero_one(problems: list[ShapeViolation]) -> Diagnosis:
    dims = [dim for problem in problems for dim in problem.dims]
    sizes = {_root_name(dim): root_size(dim) for dim in dims}
    names = _join_names(list(sizes))
    entries = dict.fromkeys(
        f"{dim.place} is derived from {_root_name(dim)}" for dim in dims if _is_derived(dim)
    )
    made_of = f" ({', '.join(entries)})" if entries else ""
    return Diagnosis(
        kind=Kind.ZERO_ONE,
        sentence=rules.ZeroOne.SENTENCE(
            names=names,
            is_="are" if len(sizes) > 1 else "is",
            values=next(iter(sizes.values())),
            made_of=made_of,
        ),
        why=rules.ZeroOne.WHY(),
        facts=ZeroOrOne(tuple(dim.place for dim in dims)),
    )


def _is_derived(dim: InputDim) -> bool:
    return isinstance(dim.wanted, Named) and dim.wanted.derived


def _root_name(dim: InputDim) -> str:
    """What is 0 or 1: a size, or what it is made of."""
    wanted = dim.wanted
    return wanted.name if isinstance(wanted, Named) and wanted.derived else name_of(dim)


def _diagnose_violation(attempt: Failed, problems: list[ShapeViolation]) -> Diagnosis:
    first = problems[0]
    others = [
        problem for problem in problems[1:] if problem.kind != "tied" and problem.text != first.text
    ]
    texts = list(dict.fromkeys(problem.text for problem in others))
    more = f" Also: {'; '.join(texts)}." if texts else ""
    stack = first.stack or failing_stack(attempt.error)
    because, why, span = reason(first, stack)
    return Diagnosis(
        kind=Kind.SHAPES_VIOLATED,
        sentence=rules.ShapesViolated.VIOLATED(first=first.text, because=because, more=more),
        why=why,
        stack=stack,
        span=span,
        related=tuple(
            dict.fromkeys(
                Related(_asks(problem), problem.stack) for problem in problems if problem.stack
            )
        ),
        links=exportdb(Kind.SHAPES_VIOLATED, first.kind),
        facts=SizesViolated(tuple(problems)),
    )


def diagnose_size_as_text(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a dynamic size that is formatted as a number, as in `f"{x.shape[0]:>4}"`."""
    if not any(words in message(cause(attempt.error)) for words in FORMATTED):
        return None
    if any(is_unbacked(birth.symbol) for birth in attempt.recording.births):
        return None  # perhaps a number that is computed from data
    place = failing_place(attempt.error)
    called = f"`{place.text}`" if place.text else "This line"
    return Diagnosis(
        kind=Kind.SHAPES_VIOLATED,
        sentence=rules.ShapesViolated.SIZE_AS_TEXT(called=called),
        why=rules.ShapesViolated.SIZE_AS_TEXT_WHY(),
        stack=place.stack,
        span=place.span,
        facts=SizesViolated(()),
    )


_LAST = 1 << 30
"""After every line: a problem without a line names none."""


def _asks(problem: ShapeViolation) -> str:
    names = list_tied_names(problem)
    if names:
        return f"relates {names} in a way that Dim cannot express"
    return f"relies on {problem.condition}" if problem.condition else problem.text


def _join_names(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}"
