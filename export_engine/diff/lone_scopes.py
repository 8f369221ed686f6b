"""Modules that only one of two programs calls, and what is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from export_engine.record import OPS, LoneScope

if TYPE_CHECKING:
    from export_engine.record import Difference, Graph, GraphDiff, Record

_ASIDE = frozenset(OPS.index(op) for op in ("placeholder", "get_attr", "output"))
_FEWEST = 2
"""A module of one op is listed as that op, with its type and line."""


def lone_scopes(
    before: Record, after: Record, graphs: Sequence[GraphDiff], others: Sequence[Difference]
) -> list[LoneScope]:
    """The modules none of whose ops has a partner, the outermost ones.

    Args:
        before: the first program.
        after: the second.
        graphs: the differences of their graphs.
        others: the differences outside of them.
    """
    scopes: list[LoneScope] = []
    for number, graph in enumerate(graphs):
        gone = {node for became in graph.became for node in became.before}
        nodes = {node for became in graph.became for node in became.after}
        removed = [node for node in graph.removed if node not in gone]
        added = [node for node in graph.added if node not in nodes]
        scopes += _of_side("removed", before, before.graphs[graph.before], removed, number, others)
        scopes += _of_side("added", after, after.graphs[graph.after], added, number, others)
    return scopes


def _of_side(
    kind: Literal["added", "removed"],
    record: Record,
    graph: Graph,
    lone: Sequence[int],
    number: int,
    others: Sequence[Difference],
) -> Iterator[LoneScope]:
    total = _counts(record, graph, range(len(graph.op)))
    own = _counts(record, graph, lone)
    whole = {path for path, count in own.items() if path and count == total[path] >= _FEWEST}
    nodes: dict[str, list[int]] = {}
    classes: dict[str, str] = {}
    for node in lone:
        for scope in _list_enclosing_scopes(record, graph.scope[node]):
            path = record.scopes[scope].path
            if path in whole and graph.op[node] not in _ASIDE:
                nodes.setdefault(path, []).append(node)
                classes[path] = record.scopes[scope].cls.rpartition(".")[2]
                break
    inputs = _inputs_within(kind, others, nodes)
    for path, inside in nodes.items():
        yield LoneScope(kind, path, classes[path], number, inside, inputs.get(path, []))


def _inputs_within(
    kind: Literal["added", "removed"], others: Sequence[Difference], paths: Iterable[str]
) -> dict[str, list[int]]:
    """Per module, the numbers of what it holds that only its own program has."""
    texts, groups = set(paths), dict[str, list[int]]()
    for at, difference in enumerate(others):
        if difference.kind != "input" or (
            difference.after if kind == "removed" else difference.before
        ):
            continue
        parts = difference.name.split(".")
        for length in range(1, len(parts)):
            path = ".".join(parts[:length])
            if path in texts:
                groups.setdefault(path, []).append(at)
    return groups


def _counts(record: Record, graph: Graph, nodes: Iterable[int]) -> Counter[str]:
    """Ops per path of a module that they are in, however deep."""
    counts: Counter[str] = Counter()
    for scope, count in Counter(graph.scope[n] for n in nodes if graph.op[n] not in _ASIDE).items():
        for path in {
            record.scopes[number].path for number in _list_enclosing_scopes(record, scope)
        }:
            counts[path] += count
    return counts


def _list_enclosing_scopes(record: Record, scope: int) -> list[int]:
    """A scope and those that it is in."""
    chain: list[int] = []
    while scope >= 0:
        chain.append(scope)
        scope = record.scopes[scope].parent
    return chain[::-1]
