"""A ShapesSpec with an assumption, for what no Dim can say, or only a derived Dim.

Tried and compared with eager before it is offered. A torch without ShapesSpec has Dims alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from export_engine.attempt import Exported, Failed, Fix, Request
from export_engine.fixes.assumptions import (
    find_cost,
    find_new_assumptions,
    join_texts,
    with_answers,
)
from export_engine.fixes.try_fixes import try_request
from export_engine.progress import Progress, Report
from export_engine.shapes import Named, Shapes, ShapesError, Spec, plainly, shapes_of
from export_engine.source import Stack
from export_engine.torch_internals import missing_shapes_spec

_MOST_ROUNDS = 6


def shapes_spec_fix(
    attempt: Failed,
    solved: Shapes,
    stack: Stack,
    progress: Report | None,
    *,
    otherwise_lossy: bool,
) -> Iterator[Fix]:
    """The fix for an attempt under Dims, where the program then agrees with eager.

    Args:
        attempt: whose shapes do not hold.
        solved: the Dims that it allows.
        stack: the line that it is about.
        progress: called before each export.
        otherwise_lossy: whether the Dims freeze a size, so that unbacked sizes alone are worth it.
    """
    request = attempt.request
    before = shapes_of(request) if request else None
    if request is None or before is None or before.unbacked or missing_shapes_spec():
        return
    try:
        asked, shapes = before.to_spec(), _make_unbacked(before, solved)
    except ShapesError:
        return
    if progress:
        progress(Progress(0, 0, f"trying {shapes}", "fix"))
    result = try_request(request.with_changes(shapes=shapes))
    after, result = with_answers(result, request, shapes, progress, _MOST_ROUNDS)
    if not isinstance(result, Exported) or not _agrees(result):
        return

    def change(request: Request) -> Request:
        return request.with_changes(shapes=after)

    new = find_new_assumptions(asked, after)
    texts = [str(plainly(relation)) for relation in new]
    if not texts and not otherwise_lossy:
        return
    narrows, gives_up = find_cost(request.with_changes(shapes=asked), asked, new)
    yield Fix(
        kind="shapes",
        title=f"Assume {join_texts(texts)} with a ShapesSpec" if texts else "Use a ShapesSpec",
        why="A ShapesSpec states the relation between sizes, and the program asserts it. Its sizes "
        "are unbacked: not specialized on 0 and 1.",
        narrows=narrows,
        gives_up=gives_up if texts else "",
        change=change,
        before=str(before),
        after=str(after),
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


def _agrees(found: Exported) -> bool:
    """Whether it was compared with eager at other sizes, and agrees."""
    agreement = found.agreement
    return (
        agreement is not None
        and agreement.verdict == "agrees"
        and any(trial.sizes and trial.outcome == "agrees" for trial in agreement.trials)
    )
