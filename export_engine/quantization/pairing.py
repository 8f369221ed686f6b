"""Which op of a float program a quantized layer stands for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from export_engine.quantization.in_float import kind_of
from export_engine.quantization.ops import COMPUTE, Ops
from export_engine.record import Record


class _Place(NamedTuple):
    module: str
    kind: str
    """Linear, convolution, ..."""
    node: int
    """With the value of the layer."""


def layer_pairs(record: Record, other: Record) -> dict[int, int]:
    """Per layer of a program, by the node that has its value, the node of the other's that has it.

    By the module that the layer is in, and else by the order of its kind. Where a batch norm was
    folded into a convolution, the convolution's value is that of the batch norm.

    Args:
        record: a program; one of the two is quantized.
        other: another one of the same model.
    """
    if record.quantization is None and other.quantization is None:
        return {}
    sides = Ops(record), Ops(other)
    one, two = (_places(ops) for ops in sides)
    entries: dict[int, int] = {}

    def match(key: Callable[[_Place], Hashable]) -> None:
        left = [place for place in one if place.node not in entries]
        right = [place for place in two if place.node not in entries.values()]
        by_key = _by(right, key)
        for which, mine in _by(left, key).items():
            theirs = by_key.get(which, [])
            if len(mine) == len(theirs):
                entries.update(
                    zip((at.node for at in mine), (at.node for at in theirs), strict=True)
                )

    match(lambda each: (each.module, each.kind))
    match(lambda each: each.kind)
    return dict(_through_norms(sides, pair) for pair in entries.items())


def _places(ops: Ops) -> list[_Place]:
    record = ops.record
    layers = record.quantization.layers if record.quantization else []
    results = {layer.node: layer.result for layer in layers}
    return [
        _Place(_module(record, ops.scope(node)), kind_of(ops, node), results.get(node, node))
        for node in ops.calls()
        if ops.label(node) in COMPUTE and node not in ops.constant
    ]


def _module(record: Record, scope: int) -> str:
    return record.scopes[scope].path if scope >= 0 else ""


def _by(
    places: Sequence[_Place], key: Callable[[_Place], Hashable]
) -> dict[Hashable, list[_Place]]:
    groups: dict[Hashable, list[_Place]] = defaultdict(list)
    for place in places:
        groups[key(place)].append(place)
    return groups


def _through_norms(sides: tuple[Ops, Ops], pair: tuple[int, int]) -> tuple[int, int]:
    """A pair of convolutions, of which one has a batch norm that the other has taken in."""
    norms = [_norm_after(ops, node) for ops, node in zip(sides, pair, strict=True)]
    if (norms[0] < 0) == (norms[1] < 0):
        return pair
    return (norms[0], pair[1]) if norms[0] >= 0 else (pair[0], norms[1])


def _norm_after(ops: Ops, node: int) -> int:
    """The value of the batch norm that alone reads a node; -1 for none."""
    users = ops.users(node)
    if len(users) != 1 or "batch_norm" not in ops.label(users[0]):
        return -1
    picks = [user for user in ops.users(users[0]) if ops.label(user) == "getitem"]
    return picks[0] if picks else users[0]
