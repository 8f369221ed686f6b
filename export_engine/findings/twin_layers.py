"""Whether the layers of a whole model, without weights, and of its small twin have the same ops."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.findings.record_ops import place_of
from export_engine.listing import join_names
from export_engine.record import Record

_LAYER = re.compile(r"(.*?)\.(\d+)(?=\.|$)")
_LAYOUTS = frozenset({"aten.contiguous.default", "aten.clone.default"})
"""Copies that follow from how a device lays out the result of an op: no difference of structure."""
_MOST_OPS = 4
"""Kinds of ops that a finding names; a comparison of layers names all."""

Ops = tuple[str, ...]
Structure = tuple[Ops, frozenset[tuple[str, Ops]]]
"""The ops of a layer in order, and each kind of item of the lists in it: experts, blocks."""


class LayerDifference(NamedTuple):
    """A kind of layer that only one of the two programs has."""

    path: str
    """The first layer of this kind, `model.layers.0`; empty for ops outside of all layers."""
    whole: str
    """Ops that only the whole model's nearest layer has, with how often: `aten.mul.Tensor ×2`."""
    twin: str
    """Ops that only the twin's nearest layer has."""
    layers: int = 0
    """How many layers of the whole model are of this kind; 0 for one that only the twin has."""
    nodes: tuple[int, ...] = ()
    """The ops in the first of them that the nearest layer of the twin lacks."""
    repeats: bool = False
    """Whether both call the same ops, and only the number of calls or their order differs."""


class _Op(NamedTuple):
    """An op of a layer."""

    path: str
    """The module that calls it, inside of the layer."""
    name: str
    node: int


class _Kind(NamedTuple):
    """Layers with the same structure."""

    paths: list[str]
    ops: list[_Op]
    """The ops of the first."""


class LayerKinds:
    """The kinds of layers of a program."""

    def __init__(self, record: Record) -> None:
        """Make one.

        Args:
            record: of the program.
        """
        layers: dict[str, list[_Op]] = defaultdict(list)
        self.outside: dict[str, int] = {}
        """Ops outside of all layers, with the first node of each."""
        for graph in record.graphs[:1]:
            for node, (target, scope) in enumerate(zip(graph.target, graph.scope, strict=True)):
                if target < 0 or scope < 0 or graph.housekeeping[node]:
                    continue
                name, path = record.targets[target].name, record.scopes[scope].path
                match = _LAYER.match(path)
                if name in _LAYOUTS:
                    continue
                if match:
                    layers[match[0]].append(_Op(path[match.end() :], name, node))
                else:
                    self.outside.setdefault(name, node)
        self.count = len(layers)
        """How many layers there are."""
        self.kinds: dict[tuple[str, Structure], _Kind] = {}
        """Per list of layers and structure, the layers."""
        for path, ops in layers.items():
            key = path.rpartition(".")[0], _structure(ops)
            self.kinds.setdefault(key, _Kind([], ops)).paths.append(path)


def _structure(ops: Sequence[_Op]) -> Structure:
    own: list[str] = []
    items: dict[str, list[str]] = defaultdict(list)
    for op in ops:
        match = _LAYER.match(op.path)
        (items[match[0]] if match else own).append(op.name)
    kinds = ((path.rpartition(".")[0], tuple(names)) for path, names in items.items())
    return tuple(own), frozenset(kinds)


def check_twin_layers(whole: Record, twin: Record) -> Iterator[Finding]:
    """One finding for each kind of layer of the whole model that its small twin lacks.

    Args:
        whole: the Record of the whole program.
        twin: that of its small twin.
    """
    ours, theirs = LayerKinds(whole), LayerKinds(twin)
    for difference in find_layer_differences(ours, theirs):
        sides = (
            ("only in the whole model", difference.whole),
            ("only in the twin", difference.twin),
        )
        told = [f"{side} {join_names(ops.split(', '), _MOST_OPS)}" for side, ops in sides if ops]
        text = "; ".join(told) or "in another order"
        path, layers = difference.path, difference.layers
        if not path:
            sentence = rules.TwinDiffers.OUTSIDE(ops=text)
        elif layers:
            sentence = rules.TwinDiffers.SENTENCE(
                path=path, ops=text, count=layers, total=ours.count
            )
        else:
            sentence = rules.TwinDiffers.EXTRA(path=path, ops=text)
        yield Finding(
            kind=Kind.TWIN_DIFFERS,
            severity="note" if difference.repeats else "surprising",
            sentence=sentence,
            why=rules.TwinDiffers.WHY(),
            stack=place_of(whole, difference.nodes),
            node=next(iter(difference.nodes), -1),
        )


def find_layer_differences(whole: LayerKinds, twin: LayerKinds) -> Iterator[LayerDifference]:
    """The kinds of layers that only one of two programs has, in the order of the program.

    Args:
        whole: those of the whole program.
        twin: those of its small twin.
    """
    for (owner, structure), kind in whole.kinds.items():
        if (owner, structure) in twin.kinds:
            continue
        mine = _count_ops(structure)
        near = [_count_ops(other) for name, other in twin.kinds if name == owner]
        other = min(near, key=lambda counts: _distance(mine, counts), default=Counter[str]())
        more, less = mine - other, other - mine
        yield LayerDifference(
            path=kind.paths[0],
            whole=_format_ops(more),
            twin=_format_ops(less),
            layers=len(kind.paths),
            nodes=tuple(op.node for op in kind.ops if op.name in more or not more),
            repeats=mine.keys() == other.keys(),
        )
    owners = {owner for owner, _ in whole.kinds}
    for (owner, structure), kind in twin.kinds.items():
        if owner not in owners:
            yield LayerDifference(kind.paths[0], "", _format_ops(_count_ops(structure)))
    ours, theirs = (
        [name for name in one.outside if name not in other.outside]
        for one, other in ((whole, twin), (twin, whole))
    )
    if ours or theirs:
        nodes = tuple(whole.outside[name] for name in ours)
        yield LayerDifference("", ", ".join(ours), ", ".join(theirs), nodes=nodes)


def _count_ops(structure: Structure) -> Counter[str]:
    """How often a layer calls each op, with one item of each kind."""
    own, items = structure
    return sum((Counter(ops) for _, ops in items), Counter(own))


def _distance(one: Counter[str], other: Counter[str]) -> int:
    return (one - other).total() + (other - one).total()


def _format_ops(ops: Counter[str]) -> str:
    return ", ".join(f"{name} ×{count}" for name, count in ops.most_common())
