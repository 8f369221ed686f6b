"""Assumptions, bounds and computed sizes that never hold together.

Tracing under a ShapesSpec looks at no size, so torch exports a program that rejects every call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from export_engine.shapes.dims import Bounds, Computed, Named, ints_of, names_of
from export_engine.shapes.errors import Misfit
from export_engine.shapes.expressions import Relation, combine, name_size
from export_engine.shapes.printing import write_bounds, write_dim
from export_engine.shapes.relation_constraints import never_hold
from export_engine.shapes.shapes_parts import Parts
from export_engine.sizes import Expression


class _Fact(NamedTuple):
    """A condition on the sizes."""

    text: str
    holds: tuple[Relation, ...]
    place: tuple[str, int | None] | None
    """Where a text says it: of an assumption and a computed size."""


def check_possible(shapes: Parts) -> None:
    """Raise a Misfit if no sizes fulfil all conditions, with those that contradict.

    It is raised only if that is certain.
    """
    facts = list(_facts(shapes))
    sizes = names_of(shapes.leaves)
    if all(fact.place is None for fact in facts) or not _never(facts, sizes):
        return
    for fact in list(facts):
        fewer = [other for other in facts if other is not fact]
        if _never(fewer, sizes):
            facts = fewer
    *_, path, position = max(
        (number, *fact.place) for number, fact in enumerate(facts) if fact.place is not None
    )
    texts = [f"`{fact.text}`" for fact in facts]
    if len(texts) == 1:
        raise Misfit(
            f"{texts[0]} never holds, so the program would reject every call; change it or leave "
            "it out",
            path,
            position,
        )
    raise Misfit(
        f"{', '.join(texts[:-1])} and {texts[-1]} never hold together, so the program would reject "
        "every call; change one of them or leave it out",
        path,
        position,
    )


def _facts(shapes: Parts) -> Iterator[_Fact]:
    numbers = {
        name: Bounds(int_leaf.low, int_leaf.high)
        for name, int_leaf in ints_of(shapes.leaves).items()
    }
    for name, bounds in {**shapes.bounds, **numbers}.items():
        low, high = bounds
        ends = (">=", low), ("<=", high)
        holds = tuple(Relation(sign, name_size(name), end) for sign, end in ends if end is not None)
        if holds:
            kind = ": int" if name in numbers else ""
            yield _Fact(f"{name}{kind}{write_bounds(bounds)}", holds, None)
    for path, specs in shapes.leaves.items():
        for position, spec in enumerate(specs):
            result = _expression_of(spec)
            if result is not None:
                text = f"{path}: {', '.join(write_dim(spec, {}) for spec in specs)}"
                yield _Fact(text, (Relation(">=", result, 0),), (path, position))
    for assumption in shapes.assumptions:
        yield _Fact(str(assumption), (assumption,), (str(assumption), None))


def _expression_of(spec: object) -> Expression | None:
    match spec:
        case Computed(expression) if expression.symbols:
            return expression
        case Named(name, scale, offset) if offset < 0:
            return combine("+", combine("*", scale, name_size(name)), offset)
    return None


def _never(facts: Sequence[_Fact], sizes: Sequence[str]) -> bool:
    """Whether it is certain that no sizes fulfil all facts."""
    return never_hold((relation for fact in facts for relation in fact.holds), sizes)
