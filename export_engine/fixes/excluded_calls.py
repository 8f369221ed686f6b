"""Calls that a condition of the trace excludes, to test on the model what the program gives up.

A trace follows the path of the example. Where the model runs at sizes that an assumption excludes,
the program gives up these sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from export_engine.attempt import Request
from export_engine.shapes import (
    Named,
    Relation,
    Shapes,
    ShapeViolation,
    example_sizes,
    leaf_values,
    shapes_of,
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
    """Calls at sizes that the shapes allow and a relation does not, the nearest ones; none at 0.

    Args:
        request: with the example.
        shapes: as they are without the relation.
        relation: that the example fulfils.
    """
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
    calls = [
        excluded_call
        for relation in relations
        for excluded_call in iter_excluded_calls(request, shapes, relation)
    ]
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
        path: list(value.shape)
        for path, value in leaf_values(request).items()
        if hasattr(value, "shape")
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
    shapes = shapes_of(request)
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
    relations = [
        assumption for assumption in shapes.assumptions if assumption.names.keys() <= sizes.keys()
    ]
    return all(relation.holds(sizes) for relation in relations)


def resize(request: Request, shapes: Shapes, name: str, size: int) -> Request:
    """The request with every dim, or int, of a name at a size."""
    values = leaf_values(request)
    places = [
        (path, position if hasattr(values.get(path), "shape") else -1)
        for path, specs in shapes.leaves.items()
        for position in range(len(specs))
        if shapes.size_name(path, position) == name
        and shapes.find_expression(path, position) is None
    ]
    return with_size(request, places, size)
