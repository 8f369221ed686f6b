"""Whether the layers of two programs consist of the same ops, as of a model and its small twin."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from explorer.text.escape import harmless

if TYPE_CHECKING:
    from export_engine.record import Record

_LAYER = re.compile(r"(.*?)\.(\d+)(?=\.|$)")
_FEW = 5
_LAYOUTS = frozenset({"aten.contiguous.default", "aten.clone.default"})
"""Copies that follow from how a device lays out the result of an op: no difference of structure."""


class LayerDifference(NamedTuple):
    """A kind of layer that only one of the programs has."""

    path: str
    """The first layer of this kind, `model.layers.0`."""
    whole: str
    """Ops that only the whole model's nearest layer has, with how often: `aten.mul.Tensor ×2`."""
    twin: str
    """Ops that only the twin's nearest layer has."""


class LayerComparison:
    """How the layers of a small twin differ from the whole model's. `print` it."""

    def __init__(self, whole: Record, twin: Record) -> None:
        """Make one.

        Args:
            whole: the Record of the whole program.
            twin: that of its small twin.
        """
        self.titles = (whole.title, twin.title)
        ours, theirs = _kinds(whole), _kinds(twin)
        self.layers: tuple[int, int] = (_count(whole), _count(twin))
        self.differences: tuple[LayerDifference, ...] = tuple(_differences(ours, theirs))

    @property
    def same(self) -> bool:
        """Whether each layer of the whole model has a layer of the twin with the same ops."""
        return not self.differences

    def __repr__(self) -> str:
        whole, twin = self.titles
        if self.same:
            told = (
                f"Each of the {self.layers[0]} layers of {whole} has the same ops as a layer of "
                f"{twin}."
            )
            return harmless(told)
        lines = [
            f"Layers of {whole} differ from those of {twin}, so results for the twin say less "
            "about it:"
        ]
        for difference in self.differences[:_FEW]:
            lines.append(f"  {difference.path}: only in the whole {difference.whole or 'nothing'}")
            lines.append(f"      only in the twin {difference.twin or 'nothing'}")
        return harmless("\n".join(lines))


Ops = tuple[tuple[str, int], ...]
"""The ops of a layer with how often each is called, by name."""


def _layers(record: Record) -> dict[str, Counter[str]]:
    """Per layer, by its path, its ops."""
    layers: dict[str, Counter[str]] = defaultdict(Counter)
    graph = record.graphs[0] if record.graphs else None
    for node, target in enumerate(graph.target if graph else ()):
        scope = graph.scope[node] if graph else -1
        match = _LAYER.match(record.scopes[scope].path) if scope >= 0 else None
        if target >= 0 and match and record.targets[target].name not in _LAYOUTS:
            layers[match[0]][record.targets[target].name] += 1
    return layers


def _count(record: Record) -> int:
    return len(_layers(record))


def _kinds(record: Record) -> dict[tuple[str, Ops], str]:
    """Per list of layers and ops in one, the first layer that has them."""
    kinds: dict[tuple[str, Ops], str] = {}
    for path, ops in _layers(record).items():
        match = _LAYER.match(path)
        assert match is not None
        kinds.setdefault((match[1], tuple(sorted(ops.items()))), path)
    return kinds


def _differences(
    ours: dict[tuple[str, Ops], str], theirs: dict[tuple[str, Ops], str]
) -> Iterator[LayerDifference]:
    for (owner, ops), path in ours.items():
        if (owner, ops) in theirs:
            continue
        near = [Counter(dict(pairs)) for name, pairs in theirs if name == owner]
        mine = Counter(dict(ops))
        other = min(near, key=lambda each: _distance(mine, each), default=Counter[str]())
        yield LayerDifference(path, _format_ops(mine - other), _format_ops(other - mine))
    for owner, ops in theirs:
        if not any(name == owner for name, _ in ours):
            yield LayerDifference(owner, "", _format_ops(Counter(dict(ops))))


def _distance(one: Counter[str], other: Counter[str]) -> int:
    return (one - other).total() + (other - one).total()


def _format_ops(ops: Counter[str]) -> str:
    return ", ".join(f"{name} ×{count}" for name, count in ops.most_common())
