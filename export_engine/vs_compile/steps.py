"""The pieces that a call ran through: graphs, and the gaps between them."""

from __future__ import annotations

from collections import deque

from export_engine.record import Step
from export_engine.trace import Seen, SeenBreak, SeenGraph
from export_engine.vs_compile.code_places import find_resume_place

_MOST = 400
"""Pieces of one call; a loop around a gap may make thousands."""


def steps_of(seen: Seen, number: int) -> list[Step]:
    """The pieces of one of the calls, in order."""
    call = seen.calls[number]
    ran = [seen.graphs[number] for number in call.ran[:_MOST]]
    steps: list[Step] = []
    if ran:
        steps += [_gap(seen, seen_break) for seen_break in _before(seen, ran[0])]
    for at, graph in enumerate(ran):
        steps.append(Step("graph", call.ran[at] + 1))
        following = ran[at + 1] if at + 1 < len(ran) else None
        steps += [_gap(seen, seen_break) for seen_break in _after(seen, graph, following)]
    if not ran:
        steps += [_gap(seen, seen_break) for seen_break in _once(call.breaks)]
    return steps


def _gap(seen: Seen, found: SeenBreak) -> Step:
    return Step("gap", next(at for at, seen_break in enumerate(seen.breaks) if seen_break is found))


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
            edges.setdefault(find_resume_place(place.function), []).extend(
                seen.between.get(frame, [])
            )
    ways: deque[tuple[tuple[str, int], list[SeenBreak]]] = deque([(start, [])])
    been = {start}
    while ways:
        point, way = ways.popleft()
        if point == end:
            return way
        for seen_break in edges.get(point, []):
            to = _goes_on(seen_break)
            if to not in been:
                been.add(to)
                ways.append((to, [*way, seen_break]))
    return []


def _goes_on(found: SeenBreak) -> tuple[str, int]:
    """Where the function that a break is in goes on after it."""
    if not found.stack:
        return "", 0
    outermost = found.stack[0]
    return find_resume_place(outermost.function)[0], outermost.line


def _starts(seen: Seen, graph: SeenGraph) -> tuple[str, int]:
    place = seen.frames.get(graph.frame)
    return find_resume_place(place.function) if place else ("", 0)


def _once(breaks: list[SeenBreak]) -> list[SeenBreak]:
    """Each place once: a function that cannot be inlined breaks again when it runs by itself."""
    seen_breaks: dict[object, SeenBreak] = {}
    for seen_break in breaks:
        seen_breaks.setdefault(seen_break.stack[-1:] or id(seen_break), seen_break)
    return list(seen_breaks.values())
