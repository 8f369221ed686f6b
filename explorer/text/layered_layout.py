"""Layered layout: boxes below their inputs, edges routed around boxes they skip.

Pure geometry, for a few dozen boxes; the widget lays out whole programs with Graphviz.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Point = tuple[float, float]
_SWEEPS = 6


@dataclass(frozen=True)
class Size:
    """Of boxes and of what is between them, in pixels."""

    width: float
    height: float
    gap: float
    """Between boxes of a row."""
    row: float
    """Between rows."""
    lane: float = 16.0
    """Width kept free where an edge passes a row."""


@dataclass
class Placed:
    """A layout. Its top left corner is (0, 0)."""

    boxes: list[Point] = field(default_factory=list)
    """Top left corner of each box."""
    edges: list[list[Point]] = field(default_factory=list)
    """Per edge the points it goes through: out at a bottom, through lanes, in at a top.

    One from a later box goes out at the top and in at the bottom.
    """
    width: float = 0
    height: float = 0


_Item = tuple[int, int]
"""A box as (number, -1), or a lane as (box whose value passes, row)."""


def make_layout(inputs: Sequence[Collection[int]], size: Size, pinned: Collection[int]) -> Placed:
    """A layout.

    Args:
        inputs: per box, the boxes that it reads. Those after it, which a module that runs twice
            has, are joined to it, and do not tell where it is put.
        size: what things measure.
        pinned: boxes that stay at the top; others that read nothing go near what reads them.
    """
    earlier = [{number for number in sources if number < box} for box, sources in enumerate(inputs)]
    rows = _rows(earlier, pinned)
    above = _links(earlier, rows)
    order = _order_rows(above, rows)
    centres = _centres(order, above, size)
    placed = Placed()
    left = min((centres[item] - _width(item, size) / 2 for row in order for item in row), default=0)
    step = size.height + size.row
    placed.boxes = [
        (centres[(box, -1)] - left - size.width / 2, row * step) for box, row in enumerate(rows)
    ]
    for box, sources in enumerate(inputs):
        for source in sorted(sources):
            if source >= box:
                start = (centres[(source, -1)] - left, rows[source] * step)
                end = (centres[(box, -1)] - left, rows[box] * step + size.height)
                placed.edges.append([start, end])
                continue
            points = [(centres[(source, -1)] - left, rows[source] * step + size.height)]
            for row in range(rows[source] + 1, rows[box]):
                x = centres[(source, row)] - left
                points += [(x, row * step), (x, row * step + size.height)]
            placed.edges.append([*points, (centres[(box, -1)] - left, rows[box] * step)])
    xs = [x + size.width for x, _ in placed.boxes] + [x for edge in placed.edges for x, _ in edge]
    placed.width = max(xs, default=0)
    placed.height = max((y + size.height for _, y in placed.boxes), default=0)
    return placed


def _rows(inputs: Sequence[Collection[int]], pinned: Collection[int]) -> list[int]:
    rows: list[int] = []
    fed: set[int] = set(pinned)
    for box, sources in enumerate(inputs):
        rows.append(max((rows[source] + 1 for source in sources), default=0))
        if not fed.isdisjoint(sources):
            fed.add(box)
    readers: dict[int, list[int]] = defaultdict(list)
    for box in reversed(range(len(inputs))):
        if box not in fed and readers[box]:
            rows[box] = min(rows[reader] for reader in readers[box]) - 1
        for source in inputs[box]:
            readers[source].append(box)
    return rows


def _links(inputs: Sequence[Collection[int]], rows: Sequence[int]) -> dict[_Item, list[_Item]]:
    """Per item, those of the row above that it is joined to. Edges of one source share lanes."""
    above: dict[_Item, list[_Item]] = {(box, -1): [] for box in range(len(inputs))}
    for box, sources in enumerate(inputs):
        for source in sorted(sources):
            item: _Item = (source, -1)
            for row in range(rows[source] + 1, rows[box]):
                above.setdefault((source, row), [item])
                item = (source, row)
            above[(box, -1)].append(item)
    return above


def _order_rows(above: dict[_Item, list[_Item]], rows: Sequence[int]) -> list[list[_Item]]:
    """The items of each row from left to right, with few crossings: barycentres, down and up."""
    order: list[list[_Item]] = [[] for _ in range(max(rows, default=-1) + 1)]
    for item in above:
        order[_row(item, rows)].append(item)
    below = _invert(above)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in order if down else reversed(order):
            joined = above if down else below
            place = {item: n for line in order for n, item in enumerate(line)}
            row.sort(key=lambda item: _mean([place[pair] for pair in joined[item]], place[item]))
    return order


def _centres(
    order: list[list[_Item]], above: dict[_Item, list[_Item]], size: Size
) -> dict[_Item, float]:
    """The x of each item's middle: near what it is joined to, in order, without overlap."""
    centres: dict[_Item, float] = {item: 0.0 for row in order for item in row}
    below = _invert(above)
    for sweep in range(2 * _SWEEPS):
        for row in order if sweep % 2 == 0 else reversed(order):
            joined = above if sweep % 2 == 0 else below
            wanted = [
                _mean([centres[pair] for pair in joined[item]], centres[item]) for item in row
            ]
            widths = [_width(item, size) for item in row]
            centres.update(zip(row, _spread(wanted, widths, size.gap), strict=True))
    return centres


def _spread(wanted: list[float], widths: list[float], gap: float) -> list[float]:
    """The nearest places in order and without overlap: isotonic regression, by pooling."""
    offsets = [0.0]
    for left, right in pairwise(widths):
        offsets.append(offsets[-1] + (left + right) / 2 + gap)
    pools: list[tuple[float, int]] = []
    for want, offset in zip(wanted, offsets, strict=True):
        mean, count = want - offset, 1
        while pools and pools[-1][0] > mean:
            last, many = pools.pop()
            mean, count = (mean * count + last * many) / (count + many), count + many
        pools.append((mean, count))
    level = [mean for mean, count in pools for _ in range(count)]
    return [number + offset for number, offset in zip(level, offsets, strict=False)]


def _row(item: _Item, rows: Sequence[int]) -> int:
    return rows[item[0]] if item[1] < 0 else item[1]


def _width(item: _Item, size: Size) -> float:
    return size.width if item[1] < 0 else size.lane


def _invert(above: dict[_Item, list[_Item]]) -> dict[_Item, list[_Item]]:
    below: dict[_Item, list[_Item]] = {item: [] for item in above}
    for item, others in above.items():
        for other in others:
            below[other].append(item)
    return below


def _mean(values: list[float] | list[int], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
