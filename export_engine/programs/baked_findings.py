"""Findings about what changes from call to call and is fixed in a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from export_engine.programs.component import Component
from export_engine.programs.finding import Between, Kind
from export_engine.programs.op_walk import Walk
from export_engine.record import Seam

_LOOKUPS = {"aten.embedding.default": 1, "aten.index_select.default": 2}
"""Ops that look rows up by positions, with which of their arguments says which."""
_INTEGERS = {"int64", "int32"}


def found(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Between]:
    """Lengths, positions and arguments that a program has as constants."""
    for at, component in enumerate(components):
        yield from _lengths(at, component)
        yield from _arguments(at, component)
        if any(seam.target == at and _has_cache(seam) for seam in seams):
            yield from _positions(at, component)


def _has_cache(seam: Seam) -> bool:
    return any(flow.kind == "cache" for flow in seam.flows)


def _lengths(at: int, component: Component) -> Iterator[Between]:
    """Dims that were seen to vary, and are fixed in the program."""
    for _, taken in component.taken():
        sizes = component.type_of(taken).shape
        fixed = [
            dim
            for dim in component.varying.get(taken.path, ())
            if dim < len(sizes) and isinstance(sizes[dim], int)
        ]
        if fixed:
            dims = ", ".join(f"`{taken.path}.shape[{dim}]` = {sizes[dim]}" for dim in fixed)
            yield Between(
                kind=Kind.LENGTH,
                severity="wrong",
                sentence=f"`{component.name}` fixes {dims}, and calls of it differ there.",
                why="It was observed at several sizes; the program accepts one of them.",
                component=at,
                node=taken.node,
            )


def _arguments(at: int, component: Component) -> Iterator[Between]:
    for taken in component.record.signature.inputs:
        values = component.arguments.get(taken.path, ())
        if taken.constant is not None and len(set(values)) > 1:
            yield Between(
                kind=Kind.ARGUMENT,
                severity="wrong",
                sentence=f"`{taken.path}` is fixed at {taken.constant} in `{component.name}`, and "
                f"calls gave it {', '.join(dict.fromkeys(values))}.",
                why="A value that is not a tensor is a constant of the program.",
                component=at,
                node=taken.node,
            )


def _positions(at: int, component: Component) -> Iterator[Between]:
    """Positions in a program that continues from a cache, worked out from no input at all."""
    walk = Walk(component.record)
    constants = _constants(component, walk)
    for node in walk.nodes:
        place = _LOOKUPS.get(walk.name(node))
        inputs = walk.inputs(node)
        if place is None or len(inputs) < 2:
            continue
        index = inputs[-1]
        made = [each for each in walk.before([index]) if not walk.is_placeholder(each)]
        given = [each for each in walk.before([index]) if walk.is_placeholder(each)]
        held = [each for each in given if each in constants]
        starts = [each for each in made if _starts_late(walk, each)]
        if len(held) < len(given) or not (starts or held):
            continue
        if walk.type(index).dtype not in _INTEGERS:
            continue
        source = "a constant tensor" if held else "a range with a fixed start"
        yield Between(
            kind=Kind.POSITION,
            severity="wrong",
            sentence=f"`{component.name}` looks positions up by {source}: they are those of one "
            "cache length, whatever the cache holds.",
            why="Neither an input nor the length of the cache goes into these positions.",
            component=at,
            node=starts[0] if starts else node,
        )


def _constants(component: Component, walk: Walk) -> set[int]:
    """Placeholders of integer tensors that the program holds: no call gives them."""
    return {
        each.node
        for each in component.record.signature.inputs
        if each.kind in ("constant_tensor", "buffer")
        and each.node >= 0
        and component.type_of(each).dtype in _INTEGERS
    }


def _starts_late(walk: Walk, node: int) -> bool:
    """Whether an op makes a range that starts after 0, whatever the sizes are."""
    if not walk.name(node).startswith("aten.arange.start"):
        return False
    positions, names = walk.arguments(node)
    start = names.get("start", positions[0] if positions else "")
    return start.isdigit() and int(start) > 0
