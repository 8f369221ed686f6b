"""Converts Shapes between Dims and a ShapesSpec; what cannot be expressed is an error.

A Dim's multiple, `16*_rows`, is a ShapeVar with an assumption, `rows % 16 == 0`, and the other way
round. Equal, derived and bounded sizes are said by both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from export_engine.shapes.dims import (
    Auto,
    Bounds,
    Computed,
    Dynamic,
    Int,
    Named,
    Pinned,
    Spec,
    ints_of,
    names_of,
    simplest,
)
from export_engine.shapes.errors import Misfit
from export_engine.shapes.expressions import (
    COMPARISONS,
    Expression,
    Operation,
    Relation,
    Size,
    linear,
    names_in,
    replaced,
    value_of,
)
from export_engine.shapes.one_size import bounds_said

Leaves = Mapping[str, tuple[Spec, ...]]


class Converted(NamedTuple):
    """The parts of a Shapes."""

    leaves: dict[str, tuple[Spec, ...]]
    bounds: dict[str, Bounds]
    assumptions: tuple[Relation, ...] = ()


def as_spec(
    leaves: Leaves, bounds: Mapping[str, Bounds], assumptions: Iterable[Relation]
) -> Converted:
    """The parts as a ShapesSpec says them. `*`, which it cannot say, becomes `!`."""
    taken = {*names_of(leaves), *ints_of(leaves)}
    mentions: dict[str, list[Named]] = {name: [] for name in names_of(leaves)}
    for spec in _specs(leaves):
        if isinstance(spec, Named):
            mentions[spec.name].append(spec)
    given = dict(bounds)
    said = list(assumptions)
    by: dict[str, Expression] = {}
    for name, found in mentions.items():
        if any(not spec.derived for spec in found):
            continue
        base = min(found, key=lambda spec: spec.scale)
        fresh = _fresh(name.lstrip("_") or name, taken)
        low, high = given.pop(name, Bounds())
        given[fresh] = Bounds(
            max(base.scale * (low or 0) + base.offset, 0),
            None if high is None else base.scale * high + base.offset,
        )
        by[name] = _quotient(Size(fresh), base)
        if base.scale > 1:
            rest = base.offset % base.scale
            said.append(Relation("==", Operation("%", Size(fresh), base.scale), rest))

    def converted(spec: Spec) -> Spec:
        match spec:
            case Auto(low, high):
                return Dynamic(low, high)
            case Named(name, scale, offset) if name in by:
                return _in_terms_of(by[name], scale, offset)
            case Computed(expression):
                return Computed(replaced(expression, by))
        return spec

    relations = tuple(
        Relation(each.operator, replaced(each.left, by), replaced(each.right, by)) for each in said
    )
    made = {path: tuple(map(converted, specs)) for path, specs in leaves.items()}
    return Converted(made, given, relations)


def _specs(leaves: Leaves) -> Iterable[Spec]:
    return (spec for specs in leaves.values() for spec in specs)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    taken.add(name)
    return name


def _quotient(size: Size, base: Named) -> Expression:
    """The Dim that a size is `scale * dim + offset` of."""
    shifted: Expression = size
    if base.offset:
        sign = "-" if base.offset > 0 else "+"
        shifted = Operation(sign, size, abs(base.offset))
    return shifted if base.scale == 1 else Operation("//", shifted, base.scale)


def _in_terms_of(root: Expression, scale: int, offset: int) -> Spec:
    """`scale * root + offset`, where the root is a quotient of a size that is divisible."""
    divisor = 1
    match root:
        case Operation("//", left, int() as right):
            root, divisor = left, right
    whole = scale % divisor == 0
    inner = root if whole else Operation("//", root, divisor)
    scaled = Operation("*", scale // divisor if whole else scale, inner)
    return simplest(Computed(Operation("+", scaled, offset)))


def as_dims(
    leaves: Leaves, bounds: Mapping[str, Bounds], assumptions: Iterable[Relation]
) -> Converted:
    """The parts as Dims say them.

    Raises:
        Misfit: no Dim can say an assumption, or a size that is computed from others.
    """
    roots = _Roots(leaves, bounds)
    for relation in sorted(assumptions, key=_turn):
        roots.assume(relation)
    made = {
        path: tuple(roots.spec(spec, path, position) for position, spec in enumerate(specs))
        for path, specs in leaves.items()
    }
    return Converted(made, {name: Bounds(*each) for name, each in roots.bounds.items()})


def _turn(relation: Relation) -> int:
    """Ties first, so that a divisor can apply to the root of a derived size."""
    if relation.operator != "==":
        return 2
    sides = relation.left, relation.right
    return int(any(isinstance(each, Operation) and each.operator == "%" for each in sides))


@dataclass(frozen=True)
class _Line:
    """`scale * root + offset`."""

    root: str
    scale: int
    offset: int


class _Roots:
    """Each name as a linear expression of a root, refined by one assumption after another."""

    def __init__(self, leaves: Leaves, bounds: Mapping[str, Bounds]) -> None:
        self._ints = ints_of(leaves)
        self._taken = {*names_of(leaves), *self._ints}
        self._lines = {name: _Line(name, 1, 0) for name in self._taken}
        self.bounds = {name: tuple(bounds.get(name, Bounds())) for name in names_of(leaves)}
        self.bounds |= {name: (each.low, each.high) for name, each in self._ints.items()}

    def assume(self, relation: Relation) -> None:
        """Adds an assumption."""
        if not self._divides(relation) and not self._bounds_or_ties(relation):
            raise Misfit(
                f"no Dim can say `{relation}`; under Dims it is a guard where the code asks for it",
                str(relation),
            )

    def spec(self, spec: Spec, path: str, position: int) -> Spec:
        """A dim in terms of the roots."""
        match spec:
            case Int(low, high):
                low, high = self.bounds.get(path, (low, high))
                return Dynamic(low if low is None or low >= 0 else None, high)
            case Named(name, scale, offset):
                line = self._lines[name]
                only = self._only(line.root)
                if only is not None:
                    return Pinned(scale * (line.scale * only + line.offset) + offset)
                return Named(line.root, scale * line.scale, scale * line.offset + offset)
            case Computed(expression):
                found = self._line(expression)
                if found is None or found.scale < 1 or found.root in self._ints:
                    raise Misfit("no Dim can say such a computed size", path, position)
                return Named(found.root, found.scale, found.offset)
        return spec

    def _only(self, root: str) -> int | None:
        """The one value that a root can have; None where there are more."""
        low, high = self.bounds[root]
        if low is None and root not in self._ints:
            low = 0
        return low if low == high else None

    def _line(self, expression: Expression) -> _Line | None:
        """An expression as linear in one root."""
        found = linear(self._in_roots(expression))
        if found is None or len(found[0]) != 1:
            return None
        ((root, scale),) = found[0].items()
        return _Line(root, scale, found[1])

    def _in_roots(self, expression: Expression) -> Expression:
        by: dict[str, Expression] = {}
        for name in names_in(expression):
            line = self._lines[name]
            only = self._only(line.root)
            root: Expression = Size(line.root) if only is None else only
            by[name] = Operation("+", Operation("*", line.scale, root), line.offset)
        return replaced(expression, by)

    def _divides(self, relation: Relation) -> bool:
        """The sizes that satisfy `(2*seq + 1) % 16 == 3`."""
        left, rest = relation.left, relation.right
        if isinstance(left, int):
            left, rest = rest, left
        if not (isinstance(left, Operation) and (relation.operator, left.operator) == ("==", "%")):
            return False
        line, step = self._line(left.left), left.right
        if line is None or line.root in self._ints:
            return False
        if not isinstance(step, int) or not isinstance(rest, int) or step < 1:
            return False
        shared = gcd(line.scale, step)
        if (rest - line.offset) % shared or not 0 <= rest < step:
            raise Misfit(f"`{relation}` never holds", str(relation))
        modulus = step // shared
        if modulus > 1:
            inverse = pow(line.scale // shared, -1, modulus)
            first = (rest - line.offset) // shared * inverse % modulus
            self._replace(line.root, modulus, first)
        return True

    def _replace(self, root: str, scale: int, offset: int, by: str | None = None) -> None:
        """The root is `scale * by + offset`; without `by`, of a new one."""
        fresh = by
        if fresh is None:
            fresh = f"_{root.lstrip('_')}"
            while fresh in self._taken:
                fresh = f"_{fresh}"
            self._taken.add(fresh)
        for name, line in self._lines.items():
            if line.root == root:
                self._lines[name] = _Line(
                    fresh, line.scale * scale, line.scale * offset + line.offset
                )
        low, high = self.bounds.pop(root)
        self._narrow(
            fresh,
            None if low is None else max(-((offset - low) // scale), 0),
            None if high is None else (high - offset) // scale,
        )

    def _narrow(self, root: str, low: int | None, high: int | None) -> None:
        known_low, known_high = self.bounds.get(root, (None, None))
        lows = [each for each in (known_low, low) if each is not None]
        highs = [each for each in (known_high, high) if each is not None]
        self.bounds[root] = max(lows, default=None), min(highs, default=None)

    def _bounds_or_ties(self, relation: Relation) -> bool:
        """Takes in a relation of lines: bounds of one root, or that one is a line of another."""
        left, right = self._in_roots(relation.left), self._in_roots(relation.right)
        found = linear(Operation("-", left, right))
        if found is None and (names_in(left) or names_in(right)):
            return self._between(Relation(relation.operator, left, right))
        if found is None:
            return COMPARISONS[relation.operator](value_of(left, {}), value_of(right, {})) is True
        scales, offset = found
        if not scales:
            return True
        if len(scales) == 1:
            ((root, scale),) = scales.items()
            return self._bounded(root, scale, offset, relation.operator)
        return relation.operator == "==" and self._tied(scales, offset)

    def _between(self, relation: Relation) -> bool:
        """Takes in a relation of one root that is not a sum of multiples: `max(a, 3) <= 9`."""
        (root, *others) = relation.names
        said = bounds_said(relation)
        if others or said is None or root in self._ints:
            return False
        self._narrow(root, *said)
        return True

    def _bounded(self, root: str, scale: int, offset: int, sign: str) -> bool:
        """`scale * root + offset` compared with 0."""
        if scale < 0:
            scale, offset, sign = -scale, -offset, _TURNED.get(sign, sign)
        least, most = -(offset // scale), -offset // scale
        match sign:
            case "<=":
                self._narrow(root, None, most)
            case "<":
                self._narrow(root, None, least - 1)
            case ">=":
                self._narrow(root, least, None)
            case ">":
                self._narrow(root, most + 1, None)
            case "==" if least == most:
                self._narrow(root, least, most)
            case _:
                return False
        return True

    def _tied(self, scales: Mapping[str, int], offset: int) -> bool:
        """`one - 2*other - 1 == 0`: one is 2*other + 1."""
        if len(scales) != 2 or not self._ints.keys().isdisjoint(scales):
            return False
        for root, other in (list(scales), list(scales)[::-1]):
            scale = -scales[other] * scales[root]
            if abs(scales[root]) == 1 and scale >= 1:
                self._replace(root, scale, -offset * scales[root], by=other)
                return True
        return False


_TURNED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}
