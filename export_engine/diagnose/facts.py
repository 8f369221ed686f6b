"""What each family of failures found out, for the fixes of it: the facts of a Diagnosis, typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from export_engine.attempt import Facts
from export_engine.shapes import Bounds, InputDim, InputPlace, Problem


@dataclass(frozen=True)
class DataDependent(Facts):
    """The values in tensors decide."""

    condition: str
    """What torch wanted to know, in the user's terms; empty where it asked for a plain value."""


@dataclass(frozen=True)
class UnbackedSize(Facts):
    """A decision on sizes of inputs that a ShapesSpec made unbacked."""

    asked: Any
    """What torch wanted to know of them, as a sympy expression of their symbols."""


@dataclass(frozen=True)
class UnknownClass(Facts):
    """An input or an output of a class that is not a pytree container."""

    type: type | None
    """None where torch does not tell."""
    path: str
    """Of an input, its path: `batch`, `options.0`. Of an output, where it is in what the call
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
    """The example lies outside the range asked for."""

    dim: InputDim
    bounds: Bounds


@dataclass(frozen=True)
class ZeroOrOne(Facts):
    """Sizes of 0 or 1, on which torch specializes."""

    dims: tuple[InputPlace, ...]


@dataclass(frozen=True)
class SizesViolated(Facts):
    """What of the shapes asked for does not hold."""

    problems: tuple[Problem, ...]
