"""Shapes as Dims say them: equal, derived and bounded sizes; divisors as multiples of a Dim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd

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
)
from export_engine.shapes.errors import Misfit
from export_engine.shapes.expressions import (
    COMPARISONS,
    Relation,
    combine,
    expression_text,
    name_size,
)
from export_engine.shapes.one_size import bounds_said
from export_engine.shapes.shapes_parts import Leaves, Parts
from export_engine.sizes import Expression, linear, number, substitute, value_of


class NoDim(Misfit):
    """An assumption, or a size that is computed from others, that no Dim can say."""

    def __init__(self, said: object, path: str, position: int | None = None) -> None:
        self.said = str(said)
        guarded = "with Dims it is a guard only if the code checks it"
        super().__init__(f"no Dim can express `{said}`; {guarded}", path, position)


def as_dims(
    leaves: Leaves, bounds: Mapping[str, Bounds], assumptions: Iterable[Relation]
) -> tuple[Parts, list[NoDim]]:
    """The parts as Dims say them, and what they cannot say, which is left out.

    torch decides on a computed size that no Dim can say: it may be tied where the code asks.

    Raises:
        Misfit: an assumption never holds.
    """
    roots = _Roots(leaves, bounds)
    left_out: list[NoDim] = []
    for relation in sorted(assumptions, key=_turn):
        try:
            roots.assume(relation)
        except NoDim as misfit:
            left_out.append(misfit)

    def convert(spec: Spec, path: str, position: int) -> Spec:
        try:
            return roots.spec(spec, path, position)
        except NoDim as misfit:
            left_out.append(misfit)
            return Auto()

    entries = {
        path: tuple(convert(spec, path, position) for position, spec in enumerate(specs))
        for path, specs in leaves.items()
    }
    bounds_of = {name: Bounds(*bound) for name, bound in roots.bounds.items()}
    return Parts(entries, bounds_of), left_out


def _turn(relation: Relation) -> int:
    """Ties first, so that a divisor can apply to the root of a derived size."""
    if relation.operator != "==":
        return 2
    sides = relation.left, relation.right
    return int(any(side.kind == "Mod" for side in sides))


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
        self.bounds |= {name: (number.low, number.high) for name, number in self._ints.items()}

    def assume(self, relation: Relation) -> None:
        """Adds an assumption.

        Raises:
            NoDim: no Dim can say it.
            Misfit: it never holds.
        """
        if not self._divides(relation) and not self._bounds_or_ties(relation):
            raise NoDim(relation, str(relation))

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
                result = self._line(expression)
                if result is None or result.scale < 1 or result.root in self._ints:
                    raise NoDim(expression_text(expression), path, position)
                return Named(result.root, result.scale, result.offset)
        return spec

    def _only(self, root: str) -> int | None:
        """The one value that a root can have; None where there are more."""
        low, high = self.bounds[root]
        if low is None and root not in self._ints:
            low = 0
        return low if low == high else None

    def _line(self, expression: Expression) -> _Line | None:
        """An expression as linear in one root."""
        pair = linear(self._in_roots(expression))
        if pair is None or len(pair[0]) != 1:
            return None
        ((root, scale),) = pair[0].items()
        return _Line(root, scale, pair[1])

    def _in_roots(self, expression: Expression) -> Expression:
        by: dict[str, Expression] = {}
        for name in expression.symbols:
            line = self._lines[name]
            only = self._only(line.root)
            root = name_size(line.root) if only is None else number(only)
            by[name] = combine("+", combine("*", line.scale, root), line.offset)
        return substitute(expression, by)

    def _divides(self, relation: Relation) -> bool:
        """The sizes that satisfy `(2*seq + 1) % 16 == 3`."""
        left, right = relation.left, relation.right
        if (relation.operator, left.kind) != ("==", "Mod"):
            return False
        line, divisor = self._line(left.args[0]), left.args[1]
        if line is None or line.root in self._ints:
            return False
        if not divisor.is_number or not right.is_number or divisor.value < 1:
            return False
        step, rest = int(divisor.value), int(right.value)
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
        lows = [number for number in (known_low, low) if number is not None]
        highs = [number for number in (known_high, high) if number is not None]
        self.bounds[root] = max(lows, default=None), min(highs, default=None)

    def _bounds_or_ties(self, relation: Relation) -> bool:
        """Takes in a relation of lines: bounds of one root, or that one is a line of another."""
        left, right = self._in_roots(relation.left), self._in_roots(relation.right)
        pair = linear(combine("-", left, right))
        if pair is None and (left.symbols or right.symbols):
            return self._add_nonlinear(Relation(relation.operator, left, right))
        if pair is None:
            return COMPARISONS[relation.operator](value_of(left, {}), value_of(right, {})) is True
        scales, offset = pair
        if not scales:
            return True
        if len(scales) == 1:
            ((root, scale),) = scales.items()
            return self._add_bound(root, scale, offset, relation.operator)
        return relation.operator == "==" and self._add_tie(scales, offset)

    def _add_nonlinear(self, relation: Relation) -> bool:
        """Takes in a relation of one root that is not a sum of multiples: `max(a, 3) <= 9`."""
        (root, *others) = relation.names
        bounds = bounds_said(relation)
        if others or bounds is None or root in self._ints:
            return False
        self._narrow(root, *bounds)
        return True

    def _add_bound(self, root: str, scale: int, offset: int, sign: str) -> bool:
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

    def _add_tie(self, scales: Mapping[str, int], offset: int) -> bool:
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
