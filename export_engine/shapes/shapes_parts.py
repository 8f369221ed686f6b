"""The parts of a Shapes, as they are written to a ShapesSpec and read from one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from export_engine.shapes.dims import Bounds, Spec
from export_engine.shapes.expressions import Relation

Leaves = Mapping[str, tuple[Spec, ...]]
"""The dims of each tensor, by its path."""


class Parts(NamedTuple):
    """The parts of a Shapes."""

    leaves: Leaves
    bounds: Mapping[str, Bounds]
    assumptions: tuple[Relation, ...] = ()
