"""The differences of two Shapes, as data that prints as sentences: `x dim 0: static → batch`."""

from __future__ import annotations

from dataclasses import dataclass

from export_engine.shapes.dims import (
    Auto,
    Bounds,
    Computed,
    Dynamic,
    Int,
    Named,
    Pinned,
    Spec,
    Static,
)
from export_engine.shapes.expressions import Relation
from export_engine.shapes.printing import write_bounds, write_dim
from export_engine.shapes.spec import Shapes


@dataclass(frozen=True)
class DimChange:
    """A dim of an input whose spec changed."""

    path: str
    position: int
    before: Spec
    after: Spec

    def __str__(self) -> str:
        return f"{self.path} dim {self.position}: {_text(self.before)} → {_text(self.after)}"


@dataclass(frozen=True)
class BoundsChange:
    """A Dim whose bounds differ. One that is new had none, so they were open."""

    name: str
    before: Bounds
    after: Bounds

    def __str__(self) -> str:
        (low, high), (new_low, new_high) = self.before, self.after
        sides = []
        if low != new_low:
            sides.append(f"min {low or 0} → {new_low or 0}")
        if high != new_high:
            sides.append(f"max {_limit(high)} → {_limit(new_high)}")
        return f"{self.name}: {', '.join(sides)}"


@dataclass(frozen=True)
class AssumptionChange:
    """An assumption that is new, or no longer made."""

    relation: Relation
    made: bool
    """Whether it is made now."""

    def __str__(self) -> str:
        return f"{'assumes' if self.made else 'no longer assumes'} {self.relation}"


@dataclass(frozen=True)
class FormChange:
    """Dims became ShapeVars, or the other way round."""

    unbacked: bool
    """Whether the sizes are unbacked now."""

    def __str__(self) -> str:
        return "Dims → ShapesSpec" if self.unbacked else "ShapesSpec → Dims"


Change = DimChange | BoundsChange | AssumptionChange | FormChange


def changes(before: Shapes, after: Shapes) -> list[Change]:
    """Every dim, bound and assumption that differs: dims of inputs first, in order of mention.

    A leaf that one of them does not name is static there. Bounds of a removed Dim are not listed.
    """
    result: list[Change] = []
    for path in dict.fromkeys([*before.leaves, *after.leaves]):
        old, new = before.leaves.get(path, ()), after.leaves.get(path, ())
        for position in range(max(len(old), len(new))):
            was, now = _at(old, position), _at(new, position)
            if was != now:
                result.append(DimChange(path, position, was, now))
    old_dims = before.dims()
    for name, bounds in after.dims().items():
        was_bounds = old_dims.get(name, Bounds())
        if was_bounds != bounds:
            result.append(BoundsChange(name, was_bounds, bounds))
    for item, these, others in ((False, before, after), (True, after, before)):
        items = {assumption.said for assumption in others.assumptions}
        result += [
            AssumptionChange(assumption, item)
            for assumption in these.assumptions
            if assumption.said not in items
        ]
    if before.unbacked != after.unbacked:
        result.append(FormChange(after.unbacked))
    return result


def _at(specs: tuple[Spec, ...], position: int) -> Spec:
    return specs[position] if position < len(specs) else Static()


def _text(spec: Spec) -> str:
    match spec:
        case Static():
            return "static"
        case Auto(low, high):
            return "automatic" + _within(low, high)
        case Dynamic(low, high):
            return "dynamic" + _within(low, high)
        case Pinned(size):
            return f"pinned to {size}"
        case Int(low, high):
            return "any int" + _within(low, high)
        case Named() | Computed():
            return write_dim(spec, {})


def _within(low: int | None, high: int | None) -> str:
    bounds = write_bounds(Bounds(low, high))
    return f" {bounds}" if bounds else ""


def _limit(high: int | None) -> str:
    return "∞" if high is None else str(high)
