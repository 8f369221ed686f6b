"""Findings about what changes from call to call and is fixed in a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from export_engine import rules
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
                sentence=rules.SetLength.OBSERVED(component=component.name, dims=dims),
                why=rules.SetLength.OBSERVED_WHY(),
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
                sentence=rules.SetArgument.SENTENCE(
                    path=taken.path,
                    constant=taken.constant,
                    component=component.name,
                    names=", ".join(dict.fromkeys(values)),
                ),
                why=rules.SetArgument.WHY(),
                component=at,
                node=taken.node,
            )
