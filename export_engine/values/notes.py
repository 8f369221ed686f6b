"""Collects the statistics of a run, a column per statistic."""

from __future__ import annotations

from array import array
from typing import Any

import torch

from export_engine.record import Graph, OpValues, Record, bits
from export_engine.values.statistics import EMPTY, Statistics, merged, statistics_of
from export_engine.values.steps import is_plain

_REARRANGE = frozenset(
    f"aten.{each}"
    for each in (
        *("view.default", "_unsafe_view.default", "reshape.default", "transpose.int", "t.default"),
        *(
            "permute.default",
            "unsqueeze.default",
            "squeeze.default",
            "squeeze.dim",
            "alias.default",
        ),
        *("squeeze.dims", "detach.default", "contiguous.default", "clone.default"),
        *("flatten.using_ints", "unflatten.int", "lift_fresh_copy.default", "movedim.int"),
    )
)
"""Ops that give all elements of their input, in some order: its statistics are theirs."""
_MOST = 2**31 - 1


class Notes:
    """The statistics of the nodes that ran."""

    def __init__(self, record: Record) -> None:
        """Make one.

        Args:
            record: the program that is run.
        """
        self._record = record
        self._found: dict[tuple[int, int], tuple[int, Statistics]] = {}
        self._written = any(target.mutates for target in record.targets)
        self._rearrange = {
            number for number, each in enumerate(record.targets) if each.name in _REARRANGE
        }

    def observe(self, graph: int, node: int, value: Any) -> None:
        """Notes what a node gave."""
        if not is_plain(value):
            return
        found = self._known(graph, node, value)
        if found is None:
            found = statistics_of(value)
        runs, before = self._found.get((graph, node), (0, EMPTY))
        self._found[graph, node] = runs + 1, merged(before, found) if runs else found

    def _known(self, graph: int, node: int, value: torch.Tensor) -> Statistics | None:
        """The statistics of its input, if they are the same by what the op does."""
        of = self._record.graphs[graph]
        if graph or self._written or of.target[node] not in self._rearrange:
            return None
        start, end = of.inputs.starts[node : node + 2]
        if start == end:
            return None
        source = of.inputs.items[start]
        same = of.type[source] >= 0 and of.type[node] >= 0
        runs, found = self._found.get((graph, source), (0, None))
        if not (same and runs == 1 and found is not None and found.numel == value.numel()):
            return None
        types = self._record.types
        return found if types[of.type[source]].dtype == types[of.type[node]].dtype else None

    def columns(self) -> list[OpValues]:
        """What was noted, per graph that ran."""
        ran = sorted({graph for graph, _ in self._found})
        return [self._columns(graph, self._record.graphs[graph]) for graph in ran]

    def _columns(self, number: int, graph: Graph) -> OpValues:
        rows = [self._found.get((number, node), (0, EMPTY)) for node in range(len(graph.name))]
        each = [found for _, found in rows]
        return OpValues(
            graph=number,
            runs=array("i", (runs for runs, _ in rows)),
            count=array("i", (min(row.numel, _MOST) for row in each)),
            minimum=bits([row.minimum for row in each]),
            maximum=bits([row.maximum for row in each]),
            mean=bits([row.mean for row in each]),
            std=bits([row.std for row in each]),
            norm=bits([row.norm for row in each]),
            zeros=bits([row.zeros / max(row.numel, 1) for row in each]),
            saturated=bits([row.saturated / max(row.numel, 1) for row in each]),
            nans=array("i", (min(row.nans, _MOST) for row in each)),
            infs=array("i", (min(row.infs, _MOST) for row in each)),
            histogram=array("i", (bar for row in each for bar in row.histogram)),
        )
