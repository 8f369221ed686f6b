"""Findings about a cache that a program writes in place, which the next call may not see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.listing import join_names
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
    """Caches that a program writes in place and does not return, and that another program also has.

    Where every program does so it is a convention, and a note; where another returns the cache, a
    caller who passes on what is returned loses the write.
    """
    for at, component in enumerate(components):
        by_other: dict[str, list[_Written]] = {}
        for written in _iter_written(components, seams, at):
            by_other.setdefault(written.returned_by, []).append(written)
        for other, caches in by_other.items():
            names = join_names([cache.path for cache in caches])
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


def _iter_written(
    components: Sequence[Component], seams: Sequence[Seam], at: int
) -> Iterator[_Written]:
    component = components[at]
    writes, kept = component.writes(), _find_returned(component)
    for number, entry in component.taken():
        if entry.node not in writes or entry.node in kept:
            continue
        flows = _flows(seams, at, number, entry.path)
        cache = is_cache(entry.path) or any(flow.kind == "cache" for flow in flows.values())
        if cache and flows:
            other = next(_returning(components, seams, flows), "")
            yield _Written(entry.path, writes[entry.node], next(iter(flows)), other)


def _flows(seams: Sequence[Seam], at: int, number: int, path: str) -> Mapping[int, Flow]:
    """By seam, how an input of a program comes from another, or goes to it."""
    flows: dict[int, Flow] = {}
    for where, seam in enumerate(seams):
        if seam.source == seam.target:
            continue
        for flow in seam.flows:
            taken = seam.target == at and flow.input == number
            written = seam.source == at and flow.output < 0 and flow.source_path == path
            if flow.kind != "state" and (taken or written):
                flows.setdefault(where, flow)
    return flows


def _returning(
    components: Sequence[Component], seams: Sequence[Seam], flows: Mapping[int, Flow]
) -> Iterator[str]:
    """The programs at the other ends that return the cache."""
    for where, flow in flows.items():
        seam = seams[where]
        if flow.output >= 0:  # given to the program that writes
            yield components[seam.source].name
        elif flow.target_node in _find_returned(components[seam.target]):
            yield components[seam.target].name


def _find_returned(component: Component) -> set[int]:
    """The inputs that a program returns, with more in them or as they are."""
    nodes = [
        item.node for item in component.given() if not item.in_place and len(item.type.shape) > 1
    ]
    ways = CacheWays(component)
    return {at for node in nodes for at in (component.walk.memory(node), ways.find_source(node))}
