"""Findings about what changes from call to call and is fixed in a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from export_engine.attempt import Finding, Kind
from export_engine.programs.component import Component


def check_baked_numbers(components: Sequence[Component]) -> Iterator[Finding]:
    """Lengths and arguments that a program has as constants."""
    for at, component in enumerate(components):
        yield from _lengths(at, component)
        yield from _arguments(at, component)


def _lengths(at: int, component: Component) -> Iterator[Finding]:
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
            yield Finding(
                kind=Kind.SET_LENGTH,
                severity="wrong",
                sentence=f"`{component.name}` fixes {dims}, and calls of it differ there.",
                why="It was observed at several sizes; the program accepts one of them.",
                component=at,
                node=taken.node,
            )


def _arguments(at: int, component: Component) -> Iterator[Finding]:
    for taken in component.record.signature.inputs:
        values = component.arguments.get(taken.path, ())
        if taken.constant is not None and len(set(values)) > 1:
            yield Finding(
                kind=Kind.SET_ARGUMENT,
                severity="wrong",
                sentence=f"`{taken.path}` is fixed at {taken.constant} in `{component.name}`, and "
                f"calls gave it {', '.join(dict.fromkeys(values))}.",
                why="A value that is not a tensor is a constant of the program.",
                component=at,
                node=taken.node,
            )
