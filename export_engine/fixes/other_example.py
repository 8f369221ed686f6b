"""Fixes by another example, such as one with a batch larger than 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from export_engine.attempt import Exported, Failed, Fix, Request
from export_engine.diagnose import SizesViolated, ZeroOrOne, always_fixes
from export_engine.fixes.try_fixes import try_request
from export_engine.progress import Progress
from export_engine.shapes import InputPlace, Named, ShapeViolation, name_of, shapes_of, with_size
from export_engine.verify import runs_in_eager


def suggest_example(
    attempt: Failed, progress: Callable[[Progress], None] | None = None
) -> Iterator[Fix]:
    """Examples of other sizes for a diagnosed attempt."""
    diagnosis = attempt.diagnosis
    if diagnosis is None or attempt.request is None:
        return
    match diagnosis.facts:
        case ZeroOrOne(dims):
            yield _larger(attempt.request, dims)
        case SizesViolated(problems):
            fixed = [problem for problem in problems if problem.kind == "fixed"]
            if fixed and not always_fixes(fixed[0].stack):
                yield from _elsewhere(attempt.request, fixed[0], progress)


def _larger(request: Request, dims: Sequence[InputPlace]) -> Fix:
    sizes = {dim: _size_of_two(request, dim) for dim in dims}
    of_size = {
        size: ", ".join(str(dim) for dim, number in sizes.items() if number == size)
        for size in sizes.values()
    }
    text = " and ".join(f"size {size} for {places}" for size, places in of_size.items())
    places = ", ".join(of_size.values())

    def change(request: Request) -> Request:
        for dim, size in sizes.items():
            request = with_size(request, [dim], size)
        return request

    return Fix(
        kind="inputs",
        title=f"Use an example of {text}",
        why="An example larger than 1 keeps the size dynamic. Your own arguments are unchanged; "
        "the new ones repeat their values.",
        gives_up=f"The program may reject the size of {places} in your own arguments.",
        change=change,
        before=f"{places} of size 0 or 1" if [*of_size] == [2] else places,
        after=f"{places} of size 2" if [*of_size] == [2] else f"an example of {text}",
    )


def _size_of_two(request: Request, dim: InputPlace) -> int:
    """The size at which what a dim is made of is 2."""
    shapes = shapes_of(request)
    specs = shapes.leaves.get(dim.path, ()) if shapes else ()
    spec = specs[dim.position] if 0 <= dim.position < len(specs) else None
    return 2 * spec.scale + spec.offset if isinstance(spec, Named) else 2


def _elsewhere(
    request: Request, problem: ShapeViolation, progress: Callable[[Progress], None] | None
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
    attempt = try_request(other)
    if not isinstance(attempt, Exported) or (
        attempt.agreement and attempt.agreement.verdict == "differs"
    ):
        return
    yield Fix(
        kind="inputs",
        title=f"Use an example where {name_of(dim)} is {size}",
        why=f"The code treats {dim.example} as a special case. The trace then follows the branch "
        "for other sizes.",
        gives_up=f"The program may reject {name_of(dim)} = {dim.example}.",
        change=change,
        before=f"{name_of(dim)} = {dim.example}",
        after=f"{name_of(dim)} = {size}",
        stack=problem.stack,
        leads_to=attempt,
    )
