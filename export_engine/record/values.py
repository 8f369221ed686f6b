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
    """Statistics of the outputs of one graph's nodes, a column each.

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
    """Number of NaN elements; at most 2^31 - 1."""
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
    """Time and memory of the run and its statistics."""
    memory: int
    """The most bytes that values of ops held at one time."""
    graphs: list[OpValues]
    """Those that ran."""
    left_out: list[str] = []
    """Nested graphs without values although they ran, and why; a sentence each."""


class OpPlace(msgspec.Struct, frozen=True):
    """A node of the program."""

    graph: int
    """Into `Record.graphs`."""
    node: int


class OpPairs(msgspec.Struct, frozen=True, kw_only=True):
    """The errors of the nodes of one graph, a column each; of a loop's body, of its worst turn."""

    graph: int
    """Into `Record.graphs`."""
    partner: Column
    """The node of the other program, by number; -1 where nothing was compared."""
    absolute: Column
    """Largest absolute difference; floats, as the following four."""
    relative: Column
    """Norm of the difference over the norm of the other's value."""
    cosine: Column
    sqnr: Column
    """Signal to noise, in dB."""
    own: Column
    """As `relative`, of the op alone: given the other run's inputs."""
    overflow: Column
    """Elements that the op alone made infinite or NaN, and the other did not."""
    underflow: Column
    """Elements that the op alone made 0, and the other did not."""


class ValuePairs(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs, op by op: that of this program, and one that it is held against."""

    one: str
    """This run: `program`, `bfloat16`."""
    other: str
    """The other one: `eager`, `decomposed`."""
    device: str
    inputs: str
    agrees: bool
    """Whether no op is off by more than float noise."""
    sentence: str
    graphs: list[OpPairs]
    """The main graph's, and those of nested graphs that ran in both."""
    faults: list[OpPlace]
    """Ops at which an error enters, in order; the first is where it begins."""
    worst: OpPlace | None
    """That with the largest `own`; None for none."""
    left_out: list[str] = []
    """Nodes whose inner ops were not compared, and why; a sentence each."""


def floats(column: Column) -> array[float]:
    """The floats whose bits a column has."""
    packed = array("i", column)
    result = array("f")
    result.frombytes(packed.tobytes())
    return result


def bits(values: list[float]) -> Column:
    """Floats as a column; one that a 32-bit float cannot hold becomes the largest that it can."""
    kept = array("f", (max(min(value, _MOST), -_MOST) for value in values))
    result = array("i")
    result.frombytes(kept.tobytes())
    return result


_MOST = 3.4028234663852886e38
assert array("f").itemsize == array("i").itemsize == 4, sys.version


class TensorSlice(msgspec.Struct, frozen=True, kw_only=True):
    """Two axes of a tensor, the others at fixed places. Never part of a Record."""

    dtype: str
    shape: list[int]
    axes: list[str]
    """Names of its axes: `batch`, `seq`, `64`."""
    rows: int
    """The axis that goes down; -1 for none."""
    columns: int
    index: list[int]
    """The place on every axis; on `rows` and `columns` it does not matter."""
    steps: list[int]
    """How far apart the cells of the grid are, on `rows` and on `columns`."""
    grid: list[list[float | None]]
    """None for what is not finite."""
    low: float
    """Of all elements, like the following six."""
    high: float
    mean: float
    std: float
    nans: int
    infs: int
    histogram: list[int]
    cell: list[int]
    """The place on `rows` and `columns` around which numbers are shown."""
    starts: list[int]
    """Where those numbers begin."""
    near: list[list[str]]
    image: list[list[list[int]]] = []
    """Of 1×H×W and 3×H×W, rows of pixels: red, green and blue from 0 to 255. Floats are from the
    least element of the picture to the greatest. Empty where the tensor is not a picture."""
