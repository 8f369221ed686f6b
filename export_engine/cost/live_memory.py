"""Live memory along a graph, and its peak: what each op adds, and what is released after it.

`scratch` has the memory that an op allocates inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from export_engine.cost.amount import Amount, largest, scale
from export_engine.cost.op_call import OpCall
from export_engine.cost.op_cost import is_view
from export_engine.record import Graph

Owner = tuple[int, int]
"""An op, and which of its results: 0 where it has one."""


class Held(NamedTuple):
    """Memory that an op of the graph makes, from there to its last use."""

    node: int
    """The op that makes it."""
    last: int
    """The last node that reads it, also through views; the graph's end for an output."""
    bytes: Amount | None
    """None where its size is not known."""
    item: int = 0
    """Which of the op's results it is."""


def memory_of(graph: Graph, calls: Sequence[OpCall | None]) -> list[Held]:
    """The tensors that the ops of a graph make; inputs and weights are the caller's.

    A view holds what it is a view of. An in-place write creates no tensor. A tensor is let
    go of after its last use, as the program's own code does; of a tuple, each item by itself.

    Args:
        graph: a graph of the Record.
        calls: per node, its call; None for a node that calls nothing.
    """
    groups = owners_of(graph, calls)
    last: dict[Owner, int] = {}
    sizes: dict[Owner, Amount | None] = {}
    starts = graph.inputs.starts
    for node in range(len(graph.name)):
        for item in graph.inputs.items[starts[node] : starts[node + 1]]:
            last.update(dict.fromkeys(groups.get(item, ()), node))
        call = calls[node]
        if call is None or (node, 0) not in groups.get(node, ()):
            continue
        for number, tensors in enumerate(call.items):
            last[node, number] = node
            sizes[node, number] = scale(call.bytes(*tensors), call.batch)
    return [Held(node, last[node, item], size, item) for (node, item), size in sizes.items()]


def owners_of(graph: Graph, calls: Sequence[OpCall | None]) -> dict[int, frozenset[Owner]]:
    """Per node, the results whose memory its value is in: its own, or what it is a view of.

    Args:
        graph: a graph of the Record.
        calls: as `memory_of` takes them.
    """
    groups: dict[int, frozenset[Owner]] = {}
    starts = graph.inputs.starts
    for node, call in enumerate(calls):
        if call is None:
            continue
        inputs = graph.inputs.items[starts[node] : starts[node + 1]]
        if call.target.mutates or is_view(call):
            groups[node] = frozenset(owner for source in inputs for owner in groups.get(source, ()))
        elif call.target.name.endswith("getitem"):
            groups[node] = _pick(groups.get(inputs[0], frozenset()), inputs[0], call.value("1"))
        elif call.results:
            groups[node] = frozenset((node, number) for number in range(len(call.items)))
    return groups


def _pick(owners: frozenset[Owner], source: int, number: object) -> frozenset[Owner]:
    """The owners of an item of a tuple; all of them where the tuple is one of views."""
    item = (source, number)
    return frozenset({item} if item in owners else owners)


def peak_of(held: Sequence[Held], scratch: Sequence[Amount | None]) -> Amount | None:
    """The most bytes that a graph holds at one node, without its inputs; None where not known.

    Args:
        held: what its ops make.
        scratch: per node, what its op allocates inside.
    """
    change: list[Amount] = [Amount(0)] * (len(scratch) + 1)
    for tensor in held:
        if tensor.bytes is None:
            return None
        change[tensor.node] += tensor.bytes
        change[tensor.last + 1] -= tensor.bytes
    nodes = zip(accumulate(change), scratch, strict=False)
    alive = dict.fromkeys(amount + (inside or 0) for amount, inside in nodes)
    most = [
        one for one in alive if not any(one != other and _is_less(one, other) for other in alive)
    ]
    return largest(0, *most)


def _is_less(one: Amount, other: Amount) -> bool:
    """Whether an amount is at no sizes above another, by its terms."""
    return all(scale >= 0 for scale in (other - one).terms.values())
