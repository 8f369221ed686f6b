"""Statistics of the values that a run of the program gave, as the Record has them.

No tensor is kept. A column has one entry per node of its graph. A column of floats has the bits of
a 32-bit float in each entry, since columns are integers: `floats` reads them.
"""

from __future__ import annotations

import sys
from array import array

import msgspec

from export_engine.record.graph import Column

BINS = 16
"""Bars of a histogram, of equal width from the least finite element to the greatest."""


class OpValues(msgspec.Struct, frozen=True, kw_only=True):
    """What the nodes of one graph gave, a column for each statistic.

    Least, greatest, mean, standard deviation and norm are of the finite elements; of a complex
    tensor, of its absolute values; of booleans, of 0 and 1.
    """

    graph: int
    """Into `Record.graphs`."""
    runs: Column
    """How often the node ran, 0 where it gave no tensor; of a loop's body, once per turn."""
    count: Column
    """Elements, all runs together; at most 2^31 - 1."""
    minimum: Column
    """Floats, as the following six."""
    maximum: Column
    mean: Column
    std: Column
    """Population standard deviation."""
    norm: Column
    """Euclidean."""
    zeros: Column
    """Share of elements that are 0."""
    saturated: Column
    """Share of elements within a factor of 2 of the largest float of their dtype, or infinite; of
    an integer dtype, share at either end of its range."""
    nans: Column
    """How many elements are NaN; at most 2^31 - 1."""
    infs: Column
    """How many are infinite."""
    histogram: Column
    """`BINS` entries per node: percent of a sample of its elements, 1 and more if there is one."""


class Values(msgspec.Struct, frozen=True, kw_only=True):
    """Statistics of one run of the program, op by op."""

    device: str
    inputs: str
    """Which inputs: `batch=2, seq=16`."""
    seconds: float
    """What the run and its statistics took."""
    memory: int
    """The most bytes that values of ops held at one time."""
    graphs: list[OpValues]
    """Those that ran."""


def floats(column: Column) -> array[float]:
    """The floats whose bits a column has."""
    packed = array("i", column)
    found = array("f")
    found.frombytes(packed.tobytes())
    return found


def bits(values: list[float]) -> Column:
    """Floats as a column; one that a 32-bit float cannot hold becomes the largest that it can."""
    kept = array("f", (max(min(each, _MOST), -_MOST) for each in values))
    found = array("i")
    found.frombytes(kept.tobytes())
    return found


_MOST = 3.4028234663852886e38
assert array("f").itemsize == array("i").itemsize == 4, sys.version
