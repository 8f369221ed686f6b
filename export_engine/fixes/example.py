"""Another example: one that shows what the first one hid, such as a batch of 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from export_engine.attempt import Failed
from export_engine.diagnosis import Kind
from export_engine.fix import Fix
from export_engine.inputs import with_size
from export_engine.request import Request
from export_engine.sizes import Problem
from export_engine.sizes.places import InputPlace
from export_engine.sizes.solution import name_of
from export_engine.tracing import Progress


def offered(attempt: Failed, progress: Callable[[Progress], None] | None = None) -> Iterator[Fix]:
    """Examples of other sizes for an attempt that has its diagnosis."""
    diagnosis = attempt.diagnosis
    if diagnosis is None:
        return
    if diagnosis.kind is Kind.ZERO_ONE:
        yield _larger(diagnosis.facts["dims"])
    elif diagnosis.kind is Kind.SHAPES_VIOLATED:
        yield from _elsewhere(diagnosis.facts["problems"])


def _larger(dims: list[tuple[str, int]]) -> Fix:
    places = ", ".join(
        f"{path}.shape[{position}]" if position >= 0 else path for path, position in dims
    )

    def change(request: Request) -> Request:
        for dim in dims:
            request = with_size(request, [dim], 2)
        return request

    return Fix(
        kind="inputs",
        title=f"Use an example of size 2 for {places}",
        why="An example larger than 1 shows that the size varies. Your own arguments stay as they "
        "are; the new ones repeat their values.",
        change=change,
        before=f"{places} of size 0 or 1",
        after=f"{places} of size 2",
    )


def _elsewhere(problems: tuple[Problem, ...]) -> Iterator[Fix]:
    """For a size that the code compares with one number, an example that is not that number."""
    for problem in problems:
        if problem.kind != "fixed" or not problem.stack:
            continue
        dim = problem.dims[0]
        size = dim.example + 1
        place = (dim.place.path, dim.place.position)
        yield Fix(
            kind="inputs",
            title=f"Use an example where {name_of(dim)} is {size}",
            why=f"The code may treat {dim.example} apart from other sizes; then the program is "
            "traced along the way that the others take.",
            gives_up=f"The program may refuse {name_of(dim)} = {dim.example}.",
            lossy=True,
            change=lambda request, place=place, size=size: with_size(request, [place], size),  # type: ignore[misc]
            before=f"{name_of(dim)} = {dim.example}",
            after=f"{name_of(dim)} = {size}",
            stack=problem.stack,
        )
