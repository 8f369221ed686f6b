"""Records of many ops, grown from a small one: exporting 100,000 ops would take an hour."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import msgspec

from export_engine.record import Graph, Ragged, Record, Scope, with_groups

_LAYER = "model.layers."


def grown(record: Record, ops: int, *, scopes: bool = True) -> Record:
    """A Record of about so many ops: its last layer, again and again, in a chain.

    Args:
        record: of a model whose layers are `model.layers`, at least two.
        ops: how many nodes its main graph is to have.
        scopes: whether its ops stand in their modules; else it is one flat group.
    """
    graph = record.graphs[0]
    inside = _under(record.scopes, _last_layer(record.scopes))
    body = [node for node, scope in enumerate(graph.scope) if scope in inside]
    start, stop = body[0], body[-1] + 1
    times = max((ops - len(graph.name)) // (stop - start), 0)
    copied = _copied_scopes(record.scopes, sorted(inside), times) if scopes else []
    known = len(record.scopes)

    def scope_of(node: int, time: int) -> int:
        if not scopes:
            return -1
        scope = graph.scope[node]
        if time == 0 or scope not in inside:
            return scope
        return known + (time - 1) * len(inside) + sorted(inside).index(scope)

    main = _repeated(graph, start, stop, times, scope_of)
    made = msgspec.structs.replace(
        record, graphs=[main, *record.graphs[1:]], scopes=[*record.scopes, *copied]
    )
    return with_groups(made)


def _last_layer(scopes: list[Scope]) -> int:
    layers = [
        number
        for number, each in enumerate(scopes)
        if each.path.startswith(_LAYER) and each.path.count(".") == 2
    ]
    return layers[-1]


def _under(scopes: list[Scope], root: int) -> set[int]:
    found = {root}
    for number, each in enumerate(scopes):
        if each.parent in found:
            found.add(number)
    return found


def _copied_scopes(scopes: list[Scope], inside: list[int], times: int) -> list[Scope]:
    """The scopes of each further layer, numbered on from the last."""
    top = scopes[inside[0]]
    number = int(top.name.split(".")[-1])
    made: list[Scope] = []
    for time in range(1, times + 1):
        first = len(scopes) + len(made)
        layer = f"{_LAYER}{number + time}"
        for at, scope in enumerate(inside):
            each = scopes[scope]
            parent = each.parent if at == 0 else first + inside.index(each.parent)
            name = each.name.replace(str(number), str(number + time)) if at == 0 else each.name
            path = layer + each.path[len(top.path) :]
            made.append(msgspec.structs.replace(each, path=path, name=name, parent=parent))
    return made


def _repeated(
    graph: Graph, start: int, stop: int, times: int, scope_of: Callable[[int, int], int]
) -> Graph:
    """A graph whose nodes from `start` to `stop` stand there `times` times more."""
    size = stop - start
    order = [(node, 0) for node in range(stop)]
    order += [(node, time) for time in range(1, times + 1) for node in range(start, stop)]
    order += [(node, times) for node in range(stop, len(graph.name))]
    entry = _entry(graph, start, stop)

    def moved(read: int, time: int) -> int:
        if time > 0 and read == entry:
            return stop - 1 + (time - 1) * size  # what the layer before gave
        return read + time * size if read >= start else read

    starts, items = array("i", [0]), array("i")
    for node, time in order:
        reads = graph.inputs.items[graph.inputs.starts[node] : graph.inputs.starts[node + 1]]
        items.extend(moved(read, time) for read in reads)
        starts.append(len(items))
    columns = {
        name: array("i", (getattr(graph, name)[node] for node, _ in order))
        for name in ("name", "op", "target", "type", "stack", "args", "housekeeping")
    }
    columns["scope"] = array("i", (scope_of(node, time) for node, time in order))
    return msgspec.structs.replace(graph, inputs=Ragged(starts, items), **columns)


def _entry(graph: Graph, start: int, stop: int) -> int:
    """What a layer reads of the layer before: the latest node before it that it reads."""
    reads = graph.inputs.items[graph.inputs.starts[start] : graph.inputs.starts[stop]]
    return max(read for read in reads if read < start)
