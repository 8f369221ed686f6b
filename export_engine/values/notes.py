"""Collects the statistics of a run, a column per statistic."""

from __future__ import annotations

from array import array
from typing import Any

import torch

from export_engine.record import BINS, Graph, OpValues, Record, bits
from export_engine.values.histogram import NONE, histograms
from export_engine.values.statistics import EMPTY, Statistics, merge, statistics_of
from export_engine.values.steps import is_plain

_REARRANGE = frozenset(
    f"aten.{text}"
    for text in (
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
_NO_HISTOGRAM = (0,) * BINS
_AT_ONCE = 512
"""Samples that are kept until their histograms are made."""


class Notes:
    """The statistics of the nodes that ran."""

    def __init__(self, record: Record) -> None:
        """Make one.

        Args:
            record: the program that is run.
        """
        self._record = record
        self._found: dict[tuple[int, int], tuple[int, Statistics]] = {}
        self._histograms: dict[tuple[int, int], tuple[int, ...]] = {}
        self._sampled: set[tuple[int, int]] = set()
        """The nodes whose samples are kept."""
        self._written = any(target.mutates for target in record.targets)
        self._rearrange = {
            number for number, target in enumerate(record.targets) if target.name in _REARRANGE
        }

    def observe(self, graph: int, node: int, value: Any) -> None:
        """Notes what a node gave."""
        if not is_plain(value):
            return
        key, source = (graph, node), self._source(graph, node, value)
        if source is not None:
            self._found[key] = self._found[source]
            self._histograms[key] = self._histograms.get(source, _NO_HISTOGRAM)
        else:
            statistics = statistics_of(value)
            runs, before = self._found.get(key, (0, EMPTY))
            self._found[key] = runs + 1, merge(before, statistics) if runs else statistics
        if self._found[key][1].sample.size:
            self._sampled.add(key)
        if len(self._sampled) >= _AT_ONCE:
            self._count()

    def _count(self) -> None:
        """Makes histograms of the samples that are kept, and keeps them no longer."""
        nodes = list(self._sampled)
        groups = histograms([self._found[pair][1].spread for pair in nodes])
        self._histograms.update(zip(nodes, groups, strict=True))
        for node in nodes:
            runs, row = self._found[node]
            self._found[node] = runs, row._replace(sample=NONE)
        self._sampled.clear()

    def _source(self, graph: int, node: int, value: torch.Tensor) -> tuple[int, int] | None:
        """The node with the same statistics by what the op does: it gives its input's elements."""
        of = self._record.graphs[graph]
        if graph or self._written or of.target[node] not in self._rearrange:
            return None
        start, end = of.inputs.starts[node : node + 2]
        if start == end:
            return None
        source = of.inputs.items[start]
        same = of.type[source] >= 0 and of.type[node] >= 0
        runs, statistics = self._found.get((graph, source), (0, EMPTY))
        if not (same and runs == 1 and statistics.numel == value.numel()):
            return None
        types = self._record.types
        same = types[of.type[source]].dtype == types[of.type[node]].dtype
        return (graph, source) if same else None

    def columns(self) -> list[OpValues]:
        """The notes, per graph that ran."""
        self._count()
        ran = sorted({graph for graph, _ in self._found})
        return [self._columns(graph, self._record.graphs[graph]) for graph in ran]

    def _columns(self, number: int, graph: Graph) -> OpValues:
        rows = [self._found.get((number, node), (0, EMPTY)) for node in range(len(graph.name))]
        groups = [statistics for _, statistics in rows]
        bars = [self._histograms.get((number, node), _NO_HISTOGRAM) for node in range(len(rows))]
        return OpValues(
            graph=number,
            runs=array("i", (runs for runs, _ in rows)),
            count=array("i", (min(row.numel, _MOST) for row in groups)),
            minimum=bits([row.minimum for row in groups]),
            maximum=bits([row.maximum for row in groups]),
            mean=bits([row.mean for row in groups]),
            std=bits([row.std for row in groups]),
            norm=bits([row.norm for row in groups]),
            zeros=bits([row.zeros / max(row.numel, 1) for row in groups]),
            saturated=bits([row.saturated / max(row.numel, 1) for row in groups]),
            nans=array("i", (min(row.nans, _MOST) for row in groups)),
            infs=array("i", (min(row.infs, _MOST) for row in groups)),
            histogram=array("i", (bar for row in bars for bar in row)),
        )
