"""Leaves and bounds → the canonical text of the short language; `language.parse` is the inverse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
from export_engine.shapes.expressions import Relation, expression_text

UNBACKED = "unbacked"


def write(
    leaves: Mapping[str, tuple[Spec, ...]],
    bounds: Mapping[str, Bounds],
    assumptions: Iterable[Relation] = (),
    unbacked: bool = False,
) -> str:
    """The text of leaves, in their order. Bounds come with a Dim's first mention.

    Args:
        leaves: per path, its dims.
        bounds: of Dims, by name.
        assumptions: what holds between sizes.
        unbacked: whether to mark the sizes as unbacked, if nothing else does.
    """
    unwritten = dict(bounds)
    texts = []
    for path, specs in leaves.items():
        dims = ", ".join(write_dim(spec, unwritten) for spec in specs)
        texts.append(f"{path}: {dims}" if dims else f"{path}:")
    texts += map(str, assumptions)
    if unbacked:
        texts.append(UNBACKED)
    return "; ".join(texts)


def write_dim(spec: Spec, unwritten: dict[str, Bounds]) -> str:
    """The text of one dim. The bounds of its Dim are taken out of `unwritten`."""
    match spec:
        case Static():
            return "_"
        case Auto(low, high):
            return "*" + write_bounds(Bounds(low, high))
        case Dynamic(low, high):
            return "!" + write_bounds(Bounds(low, high))
        case Pinned(size):
            return str(size)
        case Computed(expression):
            return f"({expression_text(expression)})"
        case Int(low, high):
            return "int" + write_bounds(Bounds(low, high))
        case Named(name, scale, offset):
            text = f"{scale}*{name}" if scale != 1 else name
            text += write_bounds(unwritten.pop(name, Bounds()))
            if offset:
                text += f" {'+' if offset > 0 else '-'} {abs(offset)}"
            return text


def write_bounds(bounds: Bounds) -> str:
    """`[2..512]`, `[2..]`, `[..512]`; empty where both sides are open."""
    if bounds == Bounds():
        return ""
    low, high = ("" if bound is None else str(bound) for bound in bounds)
    return f"[{low}..{high}]"
