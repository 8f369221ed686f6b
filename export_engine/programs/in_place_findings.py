"""Findings about a cache that a program writes in place, which the next call may not see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.listing import listed
from export_engine.programs.cache_ways import CacheWays
from export_engine.programs.component import Component
from export_engine.programs.flows import is_cache
from export_engine.record import Flow, Seam


class _Written(NamedTuple):
    """A cache that a program writes in place and does not return."""

    path: str
    node: int
    """The op that writes."""
    seam: int
    returned_by: str
    """A program that returns what is this cache there; empty where all write in place."""


def check_in_place_caches(
    components: Sequence[Component], seams: Sequence[Seam]
) -> Iterator[Finding]:
    """Caches that a program writes in place, does not return, and another program has, too.

    Where every program does so it is a convention, and a note; where another returns the cache, a
    caller who passes on what is returned loses the write.
    """
    for at, component in enumerate(components):
        by_other: dict[str, list[_Written]] = {}
        for each in _written(components, seams, at):
            by_other.setdefault(each.returned_by, []).append(each)
        for other, caches in by_other.items():
            names = listed([each.path for each in caches])
            also = f", while `{other}` returns its own" if other else ""
            yield Finding(
                kind=Kind.SET_IN_PLACE,
                severity="surprising" if other else "note",
                sentence=rules.SetInPlace.SENTENCE(
                    component=component.name,
                    names=names,
                    them="it" if len(caches) == 1 else "them",
                    also=also,
                ),
                why=rules.SetInPlace.WHY(),
                component=at,
                node=caches[0].node,
                seam=caches[0].seam,
            )


def _written(components: Sequence[Component], seams: Sequence[Seam], at: int) -> Iterator[_Written]:
    component = components[at]
    writes, kept = component.writes(), _returned(component)
    for number, each in component.taken():
        if each.node not in writes or each.node in kept:
            continue
        flows = _flows(seams, at, number, each.path)
        cache = is_cache(each.path) or any(flow.kind == "cache" for flow in flows.values())
        if cache and flows:
            other = next(_returning(components, seams, flows), "")
            yield _Written(each.path, writes[each.node], next(iter(flows)), other)


def _flows(seams: Sequence[Seam], at: int, number: int, path: str) -> Mapping[int, Flow]:
    """By seam, how an input of a program comes from another, or goes to it."""
    found: dict[int, Flow] = {}
    for where, seam in enumerate(seams):
        if seam.source == seam.target:
            continue
        for flow in seam.flows:
            taken = seam.target == at and flow.input == number
            written = seam.source == at and flow.output < 0 and flow.source_path == path
            if flow.kind != "state" and (taken or written):
                found.setdefault(where, flow)
    return found


def _returning(
    components: Sequence[Component], seams: Sequence[Seam], flows: Mapping[int, Flow]
) -> Iterator[str]:
    """The programs at the other ends that return the cache."""
    for where, flow in flows.items():
        seam = seams[where]
        if flow.output >= 0:  # given to the program that writes
            yield components[seam.source].name
        elif flow.target_node in _returned(components[seam.target]):
            yield components[seam.target].name


def _returned(component: Component) -> set[int]:
    """The inputs that a program returns, with more in them or as they are."""
    given = [
        each.node for each in component.given() if not each.in_place and len(each.type.shape) > 1
    ]
    ways = CacheWays(component)
    return {at for node in given for at in (component.walk.memory(node), ways.continued(node))}
