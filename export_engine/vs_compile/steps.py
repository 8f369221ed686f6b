"""The pieces that a call ran through: graphs, and the gaps between them."""

from __future__ import annotations

from collections import deque

from export_engine.record import Step
from export_engine.trace import Seen, SeenBreak, SeenGraph
from export_engine.vs_compile.code_places import resumed

_MOST = 400
"""Pieces of one call; a loop around a gap may make thousands."""


def steps_of(seen: Seen, number: int) -> list[Step]:
    """The pieces of one of the calls, in order."""
    call = seen.calls[number]
    ran = [seen.graphs[each] for each in call.ran[:_MOST]]
    found: list[Step] = []
    if ran:
        found += [_gap(seen, each) for each in _before(seen, ran[0])]
    for at, graph in enumerate(ran):
        found.append(Step("graph", call.ran[at] + 1))
        following = ran[at + 1] if at + 1 < len(ran) else None
        found += [_gap(seen, each) for each in _after(seen, graph, following)]
    if not ran:
        found += [_gap(seen, each) for each in _once(call.breaks)]
    return found


def _gap(seen: Seen, found: SeenBreak) -> Step:
    return Step("gap", next(at for at, each in enumerate(seen.breaks) if each is found))


def _after(seen: Seen, graph: SeenGraph, following: SeenGraph | None) -> list[SeenBreak]:
    """The breaks between a graph and the next: its own, and those of code without any graph."""
    if graph.ended_by is None:
        return []
    if following is None:
        return [graph.ended_by]
    return [graph.ended_by, *_way(seen, _goes_on(graph.ended_by), _starts(seen, following))]


def _before(seen: Seen, first: SeenGraph) -> list[SeenBreak]:
    """The breaks before the first graph: those at which its function goes on."""
    function, line = _starts(seen, first)
    if not line:
        return []
    return _way(seen, (function, 0), (function, line))


def _way(seen: Seen, start: tuple[str, int], end: tuple[str, int]) -> list[SeenBreak]:
    """The breaks on the shortest way from one point of a function to another, without a graph."""
    with_graph = {graph.frame for graph in seen.graphs}
    edges: dict[tuple[str, int], list[SeenBreak]] = {}
    for frame, place in seen.frames.items():
        if frame not in with_graph:
            edges.setdefault(resumed(place.function), []).extend(seen.between.get(frame, []))
    ways: deque[tuple[tuple[str, int], list[SeenBreak]]] = deque([(start, [])])
    been = {start}
    while ways:
        point, way = ways.popleft()
        if point == end:
            return way
        for each in edges.get(point, []):
            to = _goes_on(each)
            if to not in been:
                been.add(to)
                ways.append((to, [*way, each]))
    return []


def _goes_on(found: SeenBreak) -> tuple[str, int]:
    """Where the function that a break is in goes on after it."""
    if not found.stack:
        return "", 0
    outermost = found.stack[0]
    return resumed(outermost.function)[0], outermost.line


def _starts(seen: Seen, graph: SeenGraph) -> tuple[str, int]:
    place = seen.frames.get(graph.frame)
    return resumed(place.function) if place else ("", 0)


def _once(breaks: list[SeenBreak]) -> list[SeenBreak]:
    """Each place once: a function that cannot be inlined breaks again when it runs by itself."""
    found: dict[object, SeenBreak] = {}
    for each in breaks:
        found.setdefault(each.stack[-1:] or id(each), each)
    return list(found.values())
