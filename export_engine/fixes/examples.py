"""Fixes by another example: with a batch larger than 1, or within the range that is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from export_engine.attempt import Failed, Fix, Request
from export_engine.diagnose import ExampleOutside, PinnedElsewhere, ZeroOrOne
from export_engine.fixes.try_fixes import change_shapes, read_failure
from export_engine.shapes import Auto, Bounds, Dynamic, Named, Pinned, Shapes
from export_engine.traced_sizes import InputDim, InputPlace, name_of, with_size


def suggest_example(attempt: Failed) -> Iterator[Fix]:
    """An example of larger sizes for a diagnosed attempt."""
    request, diagnosis = read_failure(attempt)
    if not isinstance(diagnosis.facts, ZeroOrOne):
        return
    sizes = {dim: _size_of_two(request, dim) for dim in diagnosis.facts.dims}
    of_size = {
        size: ", ".join(str(dim) for dim, number in sizes.items() if number == size)
        for size in sizes.values()
    }
    text = " and ".join(f"size {size} for {places}" for size, places in of_size.items())
    places = ", ".join(of_size.values())
    yield Fix(
        kind="inputs",
        title=f"Use an example of {text}",
        why="An example larger than 1 keeps the size dynamic. Your own arguments are unchanged; "
        "the new ones repeat their values.",
        gives_up=f"The program may reject the size of {places} in your own arguments.",
        change=partial(_resize, sizes=sizes),
        before=f"{places} of size 0 or 1" if [*of_size] == [2] else places,
        after=f"{places} of size 2" if [*of_size] == [2] else f"an example of {text}",
    )


def _resize(request: Request, sizes: Mapping[InputPlace, int]) -> Request:
    for place, size in sizes.items():
        request = with_size(request, [place], size)
    return request


def _size_of_two(request: Request, dim: InputPlace) -> int:
    """The size at which what a dim is made of is 2."""
    shapes = request.shapes
    specs = shapes.leaves.get(dim.path, ()) if shapes else ()
    spec = specs[dim.position] if 0 <= dim.position < len(specs) else None
    return 2 * spec.scale + spec.offset if isinstance(spec, Named) else 2


def iter_wider_ranges(attempt: Failed) -> Iterator[Fix]:
    """The range made wide enough for the example, or an example from within the range."""
    request, diagnosis = read_failure(attempt)
    shapes, facts = request.shapes, diagnosis.facts
    if shapes is not None and isinstance(facts, PinnedElsewhere):
        yield from _of_pins(shapes, facts.dims)
    if shapes is None or not isinstance(facts, ExampleOutside):
        return
    dim = facts.dim
    name = name_of(dim)
    wider = _including(shapes, dim)
    if wider is not None:
        yield change_shapes(
            shapes,
            wider,
            title=f"Also allow {name} = {dim.example}",
            why=f"The example has {name} = {dim.example}, and must lie within the range.",
        )
    size = _nearest(dim, facts.bounds)
    if size is not None:
        yield Fix(
            kind="inputs",
            title=f"Use an example where {name} is {size}",
            why="The range stays as requested. The model is traced with an input within it.",
            change=lambda request: with_size(request, [dim.place], size),
            before=f"{name} = {dim.example}",
            after=f"{name} = {size}",
        )


def _of_pins(shapes: Shapes, dims: Sequence[InputDim]) -> Iterator[Fix]:
    """An example of the pinned sizes, or pins of the example's sizes."""
    pins = {dim.place: dim.wanted.size for dim in dims if isinstance(dim.wanted, Pinned)}
    asked, sizes = _format_sizes(pins), _format_sizes({dim.place: dim.example for dim in dims})

    yield Fix(
        kind="inputs",
        title=f"Use an example where {asked}",
        why="The pinned size stays as requested. The model is traced with an input of that size.",
        change=partial(_resize, sizes=pins),
        before=sizes,
        after=asked,
    )
    leaves = {path: list(leaf) for path, leaf in shapes.leaves.items()}
    for dim in dims:
        leaves[dim.place.path][max(dim.place.position, 0)] = Pinned(dim.example)
    pinned = replace(shapes, leaves={path: tuple(leaf) for path, leaf in leaves.items()})
    yield change_shapes(
        shapes,
        pinned,
        title=f"Pin {', '.join(f'{dim.place} to {dim.example}' for dim in dims)}",
        why="A pinned size must match the example.",
        lossy=True,
        gives_up=f"The program accepts only {sizes}, instead of the requested {asked}.",
    )


def _format_sizes(sizes: Mapping[InputPlace, int]) -> str:
    return ", ".join(f"{place} = {size}" for place, size in sizes.items())


def _including(shapes: Shapes, dim: InputDim) -> Shapes | None:
    """The shapes with the example inside; None for a derived dim that misses it altogether."""
    wanted = dim.wanted
    if isinstance(wanted, Named):
        size, rest = divmod(dim.example - wanted.offset, wanted.scale)
        if rest:
            return None
        wider = _stretch(shapes.bounds.get(wanted.name, Bounds()), size)
        return replace(shapes, bounds={**shapes.bounds, wanted.name: wider})
    if not isinstance(wanted, Auto | Dynamic):
        return None
    stretched = type(wanted)(*_stretch(Bounds(wanted.low, wanted.high), dim.example))
    specs = list(shapes.leaves[dim.place.path])
    specs[max(dim.place.position, 0)] = stretched
    return replace(shapes, leaves={**shapes.leaves, dim.place.path: tuple(specs)})


def _stretch(bounds: Bounds, size: int) -> Bounds:
    low, high = bounds
    return Bounds(low if low is None else min(low, size), high if high is None else max(high, size))


def _nearest(dim: InputDim, bounds: Bounds) -> int | None:
    """The size in the range that is nearest to the example's."""
    wanted = dim.wanted
    scale, offset = (wanted.scale, wanted.offset) if isinstance(wanted, Named) else (1, 0)
    size = max(round((dim.example - offset) / scale), bounds.low or 0)
    size = size if bounds.high is None else min(size, bounds.high)
    number = scale * size + offset
    return number if number > 1 else None
