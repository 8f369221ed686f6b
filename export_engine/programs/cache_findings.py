"""Findings about caches that do not come from anywhere, or do not go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.listing import join_names
from export_engine.programs.component import Component
from export_engine.programs.flows import is_cache
from export_engine.programs.op_walk import Walk
from export_engine.record import Seam

_GROWS = ("aten.cat.", "aten.index_copy.", "aten.index_put.", "aten.slice_scatter.")
"""Ops that give a cache with more in it, in other memory."""


def check_caches(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Finding]:
    """Caches of another number of layers, and caches that a program grows and keeps to itself."""
    for at, component in enumerate(components):
        yield from _missing(components, seams, at)
        yield from _check_unused(components, seams, at)
        for number, seam in enumerate(seams):
            if seam.target == at and seam.source != at:
                yield from _check_lost(component, seams, at, number)


def _missing(components: Sequence[Component], seams: Sequence[Seam], at: int) -> Iterator[Finding]:
    """Cache tensors that no program gives, beside others of the same container that one does."""
    component = components[at]
    pairs = [
        (number, flow.target_path)
        for number, seam in enumerate(seams)
        if seam.target == at and seam.source != at
        for flow in seam.flows
        if flow.kind == "cache"
    ]
    taken = {
        flow.input for seam in seams if seam.target == at != seam.source for flow in seam.flows
    }
    containers = {path.partition(".")[0]: number for number, path in pairs if "." in path}
    alone = [
        entry
        for number, entry in component.taken()
        if number not in taken
        and is_cache(entry.path)
        and entry.path.partition(".")[0] in containers
        and len(component.type_of(entry).shape) > 1
    ]
    if not alone:
        return
    seam = containers[alone[0].path.partition(".")[0]]
    source = components[seams[seam].source].name
    names = join_names([entry.path for entry in alone])
    yield Finding(
        kind=Kind.SET_MISSING,
        severity="wrong",
        sentence=rules.SetMissing.SENTENCE(component=component.name, names=names, source=source),
        why=rules.SetMissing.WHY(
            source=source, given=len(pairs), component=component.name, taken=len(pairs) + len(alone)
        ),
        component=at,
        node=alone[0].node,
        seam=seam,
    )


def _check_unused(
    components: Sequence[Component], seams: Sequence[Seam], at: int
) -> Iterator[Finding]:
    """Cache tensors that no program takes, beside others of the same container that one does."""
    component = components[at]
    flows = [
        (number, flow)
        for number, seam in enumerate(seams)
        if seam.source == at
        for flow in seam.flows
    ]
    gone = {flow.output for _, flow in flows}
    others = {
        flow.source_path.rpartition(".")[0]: number
        for number, flow in flows
        if flow.kind == "cache" and seams[number].target != at and "." in flow.source_path
    }
    alone = [
        item
        for item in component.given()
        if item.output >= 0
        and item.output not in gone
        and item.path.rpartition(".")[0] in others
        and len(item.type.shape) > 1
    ]
    if not alone:
        return
    seam = others[alone[0].path.rpartition(".")[0]]
    target = components[seams[seam].target].name
    names = join_names([item.path for item in alone])
    yield Finding(
        kind=Kind.SET_UNUSED,
        severity="surprising",
        sentence=rules.SetUnused.SENTENCE(component=component.name, names=names, target=target),
        why=rules.SetUnused.WHY(target=target),
        component=at,
        node=alone[0].node,
        seam=seam,
    )


def _check_lost(
    component: Component, seams: Sequence[Seam], at: int, number: int
) -> Iterator[Finding]:
    """Caches that a program adds to, in a tensor that it does not return."""
    walk = component.walk
    goes_on = {
        flow.input for seam in seams if seam.source == seam.target == at for flow in seam.flows
    }
    pairs = []
    for flow in seams[number].flows:
        if flow.kind != "cache" or flow.input in goes_on:
            continue
        grown = [reader for reader in walk.readers(flow.target_node) if _adds(walk, reader)]
        ends = [number for number in grown if not _reaches(component, walk, number)]
        if grown and len(ends) == len(grown):
            pairs.append((flow.target_path, grown[0]))
    if pairs:
        names = join_names([path for path, _ in pairs])
        yield Finding(
            kind=Kind.SET_LOST,
            severity="wrong" if goes_on else "surprising",
            sentence=rules.SetLost.SENTENCE(component=component.name, names=names),
            why=rules.SetLost.WHY(),
            component=at,
            node=pairs[0][1],
            seam=number,
        )


def _adds(walk: Walk, node: int) -> bool:
    """Whether an op gives its first input with more in it."""
    return walk.name(node).startswith(_GROWS) and len(walk.inputs(node)) > 1


def _reaches(component: Component, walk: Walk, node: int) -> bool:
    """Whether the tensor that an op makes is returned, as it is or as a view of as many dims."""
    rank = len(walk.type(node).shape)
    return any(
        len(item.type.shape) == rank and node in set(walk.before([item.node]))
        for item in component.given()
    )
