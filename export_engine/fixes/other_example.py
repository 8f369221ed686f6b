"""Fixes by another example, such as one with a batch larger than 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from export_engine.attempt import Exported, Failed, Fix, Request
from export_engine.diagnose import SizesViolated, ZeroOrOne, always_fixes
from export_engine.fixes.try_fixes import try_request
from export_engine.progress import Progress
from export_engine.shapes import InputPlace, Problem, name_of, with_size
from export_engine.verify import runs_in_eager


def offered(attempt: Failed, progress: Callable[[Progress], None] | None = None) -> Iterator[Fix]:
    """Examples of other sizes for a diagnosed attempt."""
    diagnosis = attempt.diagnosis
    if diagnosis is None or attempt.request is None:
        return
    match diagnosis.facts:
        case ZeroOrOne(dims):
            yield _larger(dims)
        case SizesViolated(problems):
            fixed = [each for each in problems if each.kind == "fixed"]
            if fixed and not always_fixes(fixed[0].stack):
                yield from _elsewhere(attempt.request, fixed[0], progress)


def _larger(dims: Sequence[InputPlace]) -> Fix:
    places = ", ".join(map(str, dims))

    def change(request: Request) -> Request:
        for dim in dims:
            request = with_size(request, [dim], 2)
        return request

    return Fix(
        kind="inputs",
        title=f"Use an example of size 2 for {places}",
        why="An example larger than 1 keeps the size dynamic. Your own arguments stay as they "
        "are; the new ones repeat their values.",
        change=change,
        before=f"{places} of size 0 or 1",
        after=f"{places} of size 2",
    )


def _elsewhere(
    request: Request, problem: Problem, progress: Callable[[Progress], None] | None
) -> Iterator[Fix]:
    """For a size that the code treats specially, an example of another size.

    Offered if eager accepts that size and it is then dynamic in the program.
    """
    dim = problem.dims[0]
    size = dim.example + 1

    def change(request: Request) -> Request:
        return with_size(request, [dim.place], size)

    other = change(request)
    if not runs_in_eager(other):
        return
    if progress:
        progress(Progress(0, 0, f"trying an example where {name_of(dim)} is {size}", "fix"))
    found = try_request(other)
    if not isinstance(found, Exported) or (
        found.agreement and found.agreement.verdict == "differs"
    ):
        return
    yield Fix(
        kind="inputs",
        title=f"Use an example where {name_of(dim)} is {size}",
        why=f"The code treats {dim.example} as a special case; the program is then traced along "
        "the path of the other sizes.",
        gives_up=f"The program may reject {name_of(dim)} = {dim.example}.",
        change=change,
        before=f"{name_of(dim)} = {dim.example}",
        after=f"{name_of(dim)} = {size}",
        stack=problem.stack,
        leads_to=found,
    )
