"""Fixes of a ShapesSpec: assumptions that decide conditions on unbacked sizes.

A failed trace shows one condition. So it is assumed, and the next one as well, until the call
exports or fails for another reason. Where sizes under Dims relate as only an assumption says, or
none can, they become a ShapesSpec's, or static: what is always possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from export_engine.attempt import Attempt, Exported, Failed, Fix, Request
from export_engine.diagnose import UnbackedSize, diagnose
from export_engine.fixes.try_fixes import change_shapes, read_failure, try_shapes
from export_engine.in_eager import find_accepted_call
from export_engine.shapes import Named, Relation, Shapes, ShapesError, Spec, holds_always, name_size
from export_engine.source import Stack
from export_engine.torch_internals import missing_shapes_spec
from export_engine.traced_sizes import assumable, assuming, find_unbacked_places, plainly

_MOST_ROUNDS = 24
_SHOWN = 3


def suggest_assumptions(attempt: Failed) -> Iterator[Fix]:
    """Assumptions for a diagnosed attempt."""
    request, diagnosis = read_failure(attempt)
    before, facts = request.shapes, diagnosis.facts
    if before is None or not before.unbacked or not isinstance(facts, UnbackedSize):
        return
    shapes, result = with_answers(attempt, request, before)
    if shapes != before and not (isinstance(result, Failed) and _fails_alike(result, attempt)):
        yield make_assumption_fix(request, shapes, result, diagnosis.stack)
    if not isinstance(result, Exported):
        yield from _suggest_pins(before, attempt, facts)


def _fails_alike(found: Failed, attempt: Failed) -> bool:
    """Whether the assumption left the failure unchanged: a number of tensors stays unknown."""
    assert attempt.diagnosis is not None
    return diagnose(found).sentence == attempt.diagnosis.sentence


def with_answers(
    found: Attempt, request: Request, shapes: Shapes, most: int = _MOST_ROUNDS
) -> tuple[Shapes, Attempt]:
    """The shapes with every needed assumption, and the attempt with them."""
    for _ in range(most):
        wider = _with_answer(found, shapes)
        if wider is None or wider == shapes:
            break
        shapes = wider
        found = try_shapes(request, shapes)
    return shapes, found


def _with_answer(found: Attempt, shapes: Shapes) -> Shapes | None:
    """The shapes with the condition of a failed attempt assumed; None if it cannot be."""
    if not isinstance(found, Failed):
        return None
    facts = diagnose(found).facts
    if not isinstance(facts, UnbackedSize):
        return None
    relations = assumable(found, facts.asked)
    try:
        for relation in relations:
            shapes = assuming(shapes, relation)
    except ShapesError:
        return None
    return shapes if relations else None


def make_assumption_fix(request: Request, after: Shapes, found: Attempt, stack: Stack) -> Fix:
    """The fix by what is assumed in shapes of unbacked sizes that was not before."""
    before = request.shapes
    assert before is not None
    new = find_new_assumptions(before, after)
    texts = [str(plainly(relation)) for relation in new]
    narrows, gives_up = find_cost(request, before, new)
    exported = found if isinstance(found, Exported) else None
    agreement = exported.agreement if exported else None
    alone = agreement is not None and not any(trial.sizes for trial in agreement.trials)
    return change_shapes(
        before,
        after,
        title=f"Assume {join_texts(texts)}",
        why="The code checks this condition. Assuming it lets tracing continue, and the program "
        "asserts it.",
        lossy=alone or (agreement is not None and agreement.verdict in ("differs", "refused")),
        narrows=narrows,
        gives_up=gives_up,
        stack=stack,
        leads_to=exported,
    )


def find_cost(request: Request, before: Shapes, new: list[Relation]) -> tuple[bool, str]:
    """Whether the model takes a size that assumptions exclude, and what to say of them."""
    new = [relation for relation in new if not holds_always(relation)]
    if not new:
        return False, ""
    rejected = find_accepted_call(request, before, new)
    texts = "; ".join(str(plainly(relation)) for relation in new)
    text = f"The program rejects sizes that violate it: {texts}."
    if rejected is None:
        return False, text
    return True, f"{text} The model accepts {rejected.name} = {rejected.size}."


def join_texts(texts: list[str]) -> str:
    """`a, b and c`; of many, the first few and how many more."""
    shown = texts[:_SHOWN] + ([f"{len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else [])
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if shown[1:] else shown[0]


def find_new_assumptions(before: Shapes, after: Shapes) -> list[Relation]:
    """The new assumptions, between or about sizes that both name."""
    items = {assumption.said for assumption in before.assumptions}
    relations = [assumption for assumption in after.assumptions if assumption.said not in items]
    old = {**before.dims(), **{name: (s.low, s.high) for name, s in before.ints().items()}}
    new = {**after.dims(), **{name: (s.low, s.high) for name, s in after.ints().items()}}
    bounds = [
        Relation(sign, name_size(name), limit)
        for name, limits in new.items()
        for sign, limit, was in zip((">=", "<="), limits, old.get(name, limits), strict=True)
        if limit is not None and limit != was
    ]
    return bounds + relations


def _suggest_pins(before: Shapes, attempt: Failed, facts: UnbackedSize) -> Iterator[Fix]:
    """A fix that pins sizes whose value is needed to the example's."""
    assert attempt.diagnosis is not None
    places = find_unbacked_places(attempt)
    about = {
        (place.path, max(place.position, 0))
        for symbol in facts.asked.free_symbols
        if (place := places.get(str(symbol)))
    }
    if not about or before.static(about) == before:
        return
    names = [before.size_name(*place) or f"{place[0]}.shape[{place[1]}]" for place in sorted(about)]
    yield make_static(
        before,
        about,
        names,
        why="The number is then a concrete int while tracing.",
        gives_up=f"The program rejects any other {', '.join(dict.fromkeys(names))}.",
        stack=attempt.diagnosis.stack,
    )


_ROUNDS_FROM_DIMS = 6


def shapes_spec_fix(
    attempt: Failed, solved: Shapes, stack: Stack, *, otherwise_lossy: bool
) -> Iterator[Fix]:
    """The fix for an attempt under Dims, where the program then agrees with eager.

    Args:
        attempt: whose shapes do not hold.
        solved: the Dims that it allows.
        stack: the line that it is about.
        otherwise_lossy: whether the Dims freeze a size, so that unbacked sizes alone are worth it.
    """
    request = attempt.request
    before = request.shapes if request else None
    if request is None or before is None or before.unbacked or missing_shapes_spec():
        return
    try:
        asked, shapes = before.to_spec(), _make_unbacked(before, solved)
    except ShapesError:
        return
    result = try_shapes(request, shapes)
    after, result = with_answers(result, request, shapes, _ROUNDS_FROM_DIMS)
    if not isinstance(result, Exported) or not result.agrees_elsewhere:
        return

    new = find_new_assumptions(asked, after)
    texts = [str(plainly(relation)) for relation in new]
    if not texts and not otherwise_lossy:
        return
    narrows, gives_up = find_cost(request.with_changes(shapes=asked), asked, new)
    yield change_shapes(
        before,
        after,
        title=f"Assume {join_texts(texts)} with a ShapesSpec" if texts else "Use a ShapesSpec",
        why="A ShapesSpec states the relation between sizes, and the program asserts it. Its sizes "
        "are unbacked: not specialized on 0 and 1.",
        narrows=narrows,
        gives_up=gives_up if texts else "",
        stack=stack,
        leads_to=result,
    )


def _make_unbacked(before: Shapes, solved: Shapes) -> Shapes:
    """The relations that were solved, with the names and bounds that were asked for.

    Bounds that a trace under Dims found are left out: some are there because it specializes on 0
    and 1, and what the code really asks for is asked again.
    """

    def choose(path: str, position: int, asked: Spec) -> Spec:
        specs = solved.leaves.get(path, ())
        result = specs[position] if position < len(specs) else asked
        return result if isinstance(result, Named) else asked

    leaves = {
        path: tuple(choose(path, position, spec) for position, spec in enumerate(specs))
        for path, specs in before.leaves.items()
    }
    spec = Shapes(leaves).to_spec()
    return replace(spec, bounds=before.bounds)


def make_static(
    before: Shapes,
    about: Iterable[tuple[str, int]],
    names: Sequence[str],
    *,
    why: str,
    gives_up: str,
    stack: Stack = (),
) -> Fix:
    """Makes sizes static."""
    shapes = before.static(set(about))
    return change_shapes(
        before,
        shapes,
        title=f"Keep {', '.join(dict.fromkeys(names))} at the size of the example",
        why=why,
        lossy=True,
        gives_up=gives_up,
        stack=stack,
    )
