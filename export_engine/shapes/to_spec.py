"""Shapes as a ShapesSpec says them: `16*_rows` of a Dim is a size and `rows % 16 == 0`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from export_engine.shapes.dims import (
    Auto,
    Bounds,
    Computed,
    Dynamic,
    Named,
    Spec,
    ints_of,
    names_of,
    simplest,
)
from export_engine.shapes.expressions import Relation, combine, name_size
from export_engine.shapes.names import LARGEST
from export_engine.shapes.shapes_parts import Leaves, Parts
from export_engine.sizes import Expression, substitute


def as_spec(leaves: Leaves, bounds: Mapping[str, Bounds], assumptions: Iterable[Relation]) -> Parts:
    """The parts as a ShapesSpec says them. `*`, which it cannot say, becomes `!`."""
    taken = {*names_of(leaves), *ints_of(leaves)}
    mentions: dict[str, list[Named]] = {name: [] for name in names_of(leaves)}
    for spec in _specs(leaves):
        if isinstance(spec, Named):
            mentions[spec.name].append(spec)
    groups = dict(bounds)
    items = list(assumptions)
    by: dict[str, Expression] = {}
    for name, mention in mentions.items():
        if any(not spec.derived for spec in mention):
            continue
        base = min(mention, key=lambda spec: spec.scale)
        fresh = _fresh(name.lstrip("_") or name, taken)
        low, high = groups.pop(name, Bounds())
        most = None if high is None else base.scale * high + base.offset
        groups[fresh] = Bounds(
            max(base.scale * (low or 0) + base.offset, 0),
            None if most is None or most > LARGEST else most,  # no size is larger anyway
        )
        by[name] = _quotient(name_size(fresh), base)
        if base.scale > 1:
            rest = base.offset % base.scale
            items.append(Relation("==", combine("%", name_size(fresh), base.scale), rest))

    def convert(spec: Spec) -> Spec:
        match spec:
            case Auto(low, high):
                return Dynamic(low, high)
            case Named(name, scale, offset) if name in by:
                return _in_terms_of(by[name], scale, offset)
            case Computed(expression):
                return Computed(substitute(expression, by))
        return spec

    relations = tuple(
        Relation(relation.operator, substitute(relation.left, by), substitute(relation.right, by))
        for relation in items
    )
    entries = {path: tuple(map(convert, specs)) for path, specs in leaves.items()}
    return Parts(entries, groups, relations)


def _specs(leaves: Leaves) -> Iterable[Spec]:
    return (spec for specs in leaves.values() for spec in specs)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    taken.add(name)
    return name


def _quotient(size: Expression, base: Named) -> Expression:
    """The Dim that a size is `scale * dim + offset` of."""
    shifted = combine("-", size, base.offset) if base.offset else size
    return shifted if base.scale == 1 else combine("//", shifted, base.scale)


def _in_terms_of(root: Expression, scale: int, offset: int) -> Spec:
    """`scale * root + offset`, where the root is a quotient of a size that is divisible."""
    divisor, inner = 1, root
    if root.kind == "FloorDiv":
        divisor = int(root.args[1].value)
    whole = scale % divisor == 0
    if whole and divisor > 1:
        inner = root.args[0]
    scaled = combine("*", scale // divisor if whole else scale, inner)
    return simplest(Computed(combine("+", scaled, offset)))
