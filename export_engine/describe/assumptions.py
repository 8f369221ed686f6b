"""Which guards are assumptions of the Shapes, `seq % 16 == 0`, and not of the code."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import sympy

from export_engine.describe.symbols import Symbols
from export_engine.shapes import Relation, Shapes
from export_engine.sizes import Expression
from export_engine.trace import RecordedGuard

BY_SHAPES = "dynamic_shapes"
"""Who asked for an assumption."""
_SAMPLES = 64
_SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 31, 32, 48, 64, 100)


def is_assumed(guard: RecordedGuard, shapes: Shapes | None, symbols: Symbols) -> bool:
    """Whether a guard says what an assumption says; torch writes it in its own way.

    Two conditions on the same sizes are taken for one if no line of the user's asked, and they
    agree on all samples.

    Args:
        guard: as recorded.
        shapes: what was asked for.
        symbols: of the program.
    """
    if shapes is None or guard.stack or guard.kind != "runtime_assert":
        return False
    names = {
        symbols.name(str(free_symbol)): free_symbol for free_symbol in guard.condition.free_symbols
    }
    return any(
        set(relation.names) == set(names) and _agree(guard, relation, names)
        for relation in shapes.assumptions
    )


def _agree(guard: RecordedGuard, relation: Relation, names: Mapping[str, Any]) -> bool:
    tried = [*_SIZES, *_near(relation.left), *_near(relation.right)]
    numbers = random.Random(0)
    for _ in range(_SAMPLES):
        sizes = {name: numbers.choice(tried) for name in names}
        asked = {names[name]: sympy.Integer(size) for name, size in sizes.items()}
        try:
            holds = bool(guard.condition.xreplace(asked))
        except (ArithmeticError, TypeError, AssertionError):  # it has no value: a zero divisor
            continue
        if holds != relation.holds(sizes):
            return False
    return True


def _near(expression: Expression) -> Iterator[int]:
    """Sizes about the numbers of an expression."""
    for argument in expression.args:
        yield from _near(argument)
    if expression.is_number:
        size = int(expression.value)
        yield from (size // 2, size - 1, size, size + 1)
