"""The typed facts of each family's Diagnosis, for its fixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from export_engine.attempt import Facts
from export_engine.shapes import Bounds
from export_engine.traced_sizes import InputDim, InputPlace, ShapeViolation


@dataclass(frozen=True)
class DataDependent(Facts):
    """A data-dependent value."""

    condition: str
    """The condition that torch had to decide, in the user's terms; empty for a plain value."""
    whole: bool = False
    """Whether its numbers are ints."""


@dataclass(frozen=True)
class UnbackedSize(Facts):
    """A decision on input sizes that a ShapesSpec made unbacked."""

    asked: Any
    """The condition that torch had to decide, as a sympy expression of their symbols."""


@dataclass(frozen=True)
class UnknownClass(Facts):
    """An input or an output of a class that is not a pytree container."""

    type: type | None
    """None if torch does not say."""
    path: str
    """For an input, its path: `batch`, `options.0`. For an output, where it is in what the call
    returns: `0`, `logits.1`; empty for all of it."""


@dataclass(frozen=True)
class GraphBreak(Facts):
    """Python that Dynamo cannot trace."""

    hints: tuple[str, ...]
    """torch's own advice."""


@dataclass(frozen=True)
class NoFakeKernel(Facts):
    """An operator that torch cannot run on fake tensors."""

    op: str
    """Its qualified name, `ns::name`."""
    overload: str
    """Empty for the default one."""


@dataclass(frozen=True)
class ExampleOutside(Facts):
    """The example is outside the requested range."""

    dim: InputDim
    bounds: Bounds


@dataclass(frozen=True)
class PinnedElsewhere(Facts):
    """Dims that are pinned to another size than the example's."""

    dims: tuple[InputDim, ...]


@dataclass(frozen=True)
class ZeroOrOne(Facts):
    """Sizes of 0 or 1, on which torch specializes."""

    dims: tuple[InputPlace, ...]


@dataclass(frozen=True)
class SizeLookedUp(Facts):
    """A size whose number a dict or a set needs."""

    dims: tuple[InputDim, ...]


@dataclass(frozen=True)
class SizesViolated(Facts):
    """The requested shapes that do not hold."""

    problems: tuple[ShapeViolation, ...]
