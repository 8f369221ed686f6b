"""A slice of a tensor to show: two of its axes as a grid, and the numbers around a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from export_engine.record import BINS, TensorSlice
from export_engine.torch_internals import to_strided
from export_engine.values.statistics import statistics_of

MOST_CELLS = 96
"""Rows and columns of a grid; of a longer axis every second one, or third, ... is shown."""
LEAST_SIDE = 8
"""Height and width that a picture has at least."""
AROUND = 5
"""Cells on each side of the one whose numbers are shown."""


def slice_tensor(
    value: torch.Tensor,
    axes: Sequence[str],
    rows: int = -2,
    columns: int = -1,
    index: Sequence[int] = (),
    cell: Sequence[int] = (),
) -> TensorSlice:
    """Two axes of a tensor, the others at fixed places.

    Args:
        value: on the CPU.
        axes: what its axes are called.
        rows: the axis that goes down; negative ones count from the last.
        columns: the axis that goes across.
        index: a place on each axis; those of `rows` and `columns` do not matter. Zeros by default,
            and the last place for one that is too large.
        cell: where on `rows` and `columns` numbers are told around.
    """
    plain = to_strided(value)
    plain = plain.abs() if plain.is_complex() else plain
    dims = plain.dim()
    rows, columns = _axis(rows, dims), _axis(columns, dims)
    if rows == columns:
        rows = next((axis for axis in reversed(range(dims)) if axis != columns), -1)
    at = _inside(_full(index, dims), plain.shape)
    part = _part(plain, rows, columns, at)
    steps = [max(math.ceil(size / MOST_CELLS), 1) for size in part.shape]
    grid = part[:: steps[0], :: steps[1]].double()
    told = statistics_of(plain)
    around = _inside(_full(cell, 2), part.shape)
    starts = [max(place - AROUND, 0) for place in around]
    near = part[starts[0] : around[0] + AROUND + 1, starts[1] : around[1] + AROUND + 1]
    return TensorSlice(
        dtype=str(value.dtype).removeprefix("torch."),
        shape=list(value.shape),
        axes=list(axes),
        rows=rows,
        columns=columns,
        index=at,
        steps=steps,
        grid=[[_number(item) for item in row] for row in grid.tolist()],
        low=told.minimum,
        high=told.maximum,
        mean=told.mean,
        std=told.std,
        nans=told.nans,
        infs=told.infs,
        histogram=list(told.histogram) if len(told.histogram) == BINS else [],
        cell=around,
        starts=starts,
        near=[[_text(item) for item in row] for row in near.tolist()],
        image=_image(plain, at),
    )


def _image(plain: torch.Tensor, at: Sequence[int]) -> list[list[list[int]]]:
    """The picture at a place, if the tensor is of pictures: 1 or 3 channels, height and width."""
    sizes = plain.shape[-3:]
    is_kind = plain.is_floating_point() or plain.dtype is torch.uint8
    if len(sizes) < 3 or sizes[0] not in (1, 3) or min(sizes[1:]) < LEAST_SIDE:
        return []
    if not is_kind or not plain.numel():
        return []
    for place in at[:-3]:
        plain = plain[place]
    steps = [max(math.ceil(size / MOST_CELLS), 1) for size in sizes[1:]]
    pixels = plain[:, :: steps[0], :: steps[1]].double().nan_to_num(0, 0, 0)
    if plain.is_floating_point():
        low, high = pixels.min(), pixels.max()
        pixels = (pixels - low) * (255 / (high - low) if high > low else 0)
    groups: list[list[list[int]]] = pixels.round().int().expand(3, -1, -1).permute(1, 2, 0).tolist()
    return groups


def _axis(axis: int, dims: int) -> int:
    """An axis from 0; -1 where the tensor has none of it."""
    axis = axis + dims if axis < 0 else axis
    return axis if 0 <= axis < dims else -1


def _inside(places: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Places, moved to the ends of their axes where they are beyond."""
    return [min(max(place, 0), max(size - 1, 0)) for place, size in zip(places, sizes, strict=True)]


def _full(index: Sequence[int], dims: int) -> list[int]:
    return [*index[:dims], *([0] * (dims - len(index)))]


def _part(plain: torch.Tensor, rows: int, columns: int, at: Sequence[int]) -> torch.Tensor:
    """A matrix: a single row or column where the tensor lacks an axis."""
    if not plain.numel():
        return plain.new_empty((0, 0))
    for axis in reversed(range(plain.dim())):
        if axis not in (rows, columns):
            plain = plain.select(axis, at[axis])
    if plain.dim() == 2:
        return plain.t() if rows > columns else plain
    return plain.reshape(1, -1)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _text(value: float | bool) -> str:
    if isinstance(value, bool | int):
        return str(value)
    return f"{value:.5g}"
