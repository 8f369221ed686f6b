"""Findings about cache tensors that change places between two calls.

Names and sizes agree there, so nothing fails: the keys of one call are the values of the next, or
one layer's are another's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.programs.cache_ways import CacheWays
from export_engine.programs.component import Component
from export_engine.record import Flow, Seam


def check_cache_order(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Finding]:
    """Cache tensors that are taken for others, one finding a seam."""
    ways = [CacheWays(component) for component in components]
    for number, seam in enumerate(seams):
        flows = [flow for flow in seam.flows if flow.output >= 0 and flow.kind != "state"]
        giving, taking = components[seam.source], components[seam.target]
        for flow in flows:
            node, text = _apart(giving, taking, ways[seam.source], ways[seam.target], flow, flows)
            if text:
                yield Finding(
                    kind=Kind.SET_ORDER,
                    severity="wrong",
                    sentence=text,
                    why=rules.SetOrder.SWAPPED_WHY(),
                    component=seam.target,
                    node=node,
                    seam=number,
                )
                break
    for at, way in enumerate(ways):
        yield from _check_returned_order(components, seams, at, way)


def _apart(
    giving: Component,
    taking: Component,
    from_: CacheWays,
    to: CacheWays,
    flow: Flow,
    flows: Sequence[Flow],
) -> tuple[int, str]:
    """The op that takes a tensor for another, and the sentence; empty where none does."""
    own = giving is taking
    source = "its own last call" if own else f"`{giving.name}`"
    text, taken = from_.role(flow.source_node), to.role(flow.target_node)
    if text and taken and text != taken:
        return flow.target_node, (
            rules.SetOrder.TAKEN_FOR(
                taking=taking.name,
                target_path=flow.target_path,
                taken=taken,
                source=source,
                given=text,
            )
        )
    if own:
        before = from_.find_source(flow.source_node)
        other = next((flow for flow in flows if flow.target_node == before), None)
        if other is not None and before != flow.target_node:
            return flow.source_node, (
                rules.SetOrder.RETURNED_AS(
                    giving=giving.name, target_path=other.target_path, source_path=flow.source_path
                )
            )
    mine = from_.weights(flow.source_node)
    node, added = to.find_growth(flow.target_node)
    if not mine or not added or _common(giving, mine, taking, added):
        return -1, ""
    for other in flows:
        if other is not flow:
            _, theirs = to.find_growth(other.target_node)
            if _common(giving, mine, taking, theirs):
                return node, (
                    rules.SetOrder.ADDED(
                        taking=taking.name,
                        target_path=flow.target_path,
                        taken=min(added),
                        source=source,
                        given=min(mine),
                    )
                )
    return -1, ""


def _common(
    giving: Component, mine: frozenset[str], taking: Component, theirs: frozenset[str]
) -> bool:
    """Whether a weight of one program is a weight of the other."""
    for one in mine:
        for other in theirs:
            ours, held = giving.weights.get(one), taking.weights.get(other)
            if ours is None or held is None or ours.type != held.type:
                continue
            if (ours.place and ours.place == held.place) or ours.content() == held.content():
                return True
    return False


def _check_returned_order(
    components: Sequence[Component], seams: Sequence[Seam], at: int, ways: CacheWays
) -> Iterator[Finding]:
    """Caches in a tuple, in another order than they are taken: only their places name them."""
    component = components[at]
    taken = {entry.node: number for number, entry in component.taken()}
    pairs = [
        (item, taken[before])
        for item in component.given()
        if item.place.isdigit()
        and (before := ways.find_source(item.node)) in taken
        and before != item.node
    ]
    order = [number for _, number in pairs]
    if len(set(order)) != len(order) or order == sorted(order):
        return
    firsts = [seam for seam in seams if seam.target == at != seam.source]
    for seam in firsts:
        outputs = {flow.input: flow.output for flow in seam.flows}
        if all(number in outputs for number in order):
            wanted = sorted(order, key=outputs.__getitem__)
            if wanted == order:
                return  # the first call has the same order
    inputs = component.record.signature.inputs
    yield Finding(
        kind=Kind.SET_ORDER,
        severity="wrong",
        sentence=rules.SetOrder.RETURNED(
            component=component.name,
            taken=_paths(component, sorted(order)),
            returned=_paths(component, order),
        ),
        why=rules.SetOrder.RETURNED_WHY(),
        component=at,
        node=pairs[0][0].node if pairs else inputs[order[0]].node,
    )


def _paths(component: Component, numbers: Sequence[int]) -> str:
    inputs = component.record.signature.inputs
    return ", ".join(f"`{inputs[number].path}`" for number in numbers)
