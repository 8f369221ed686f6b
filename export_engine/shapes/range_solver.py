"""Solves conditions on one size: the sizes around the example for which all of them hold.

Sizes are found by trying, since conditions hold floor divisions, remainders and roundings that no
algebra undoes. What is found is a progression, all sizes `first + k*step`, which is what a range
(step 1) or a derived dim (`4*_h`) can say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_TRIED = 4096
"""Sizes tried one by one; beyond, some far ones and the border between."""
_FAR = (9_973, 65_537, 1_000_003, 16_777_259)
_MOST_STEP = 1024
_FEWEST = 3
"""Sizes that a progression with a step must have, to be more than chance."""


class Progression(NamedTuple):
    """The sizes first, first + step, ... up to `last`, or without end."""

    first: int
    last: int | None
    step: int = 1

    @property
    def single(self) -> bool:
        """Whether it is one size only."""
        return self.first == self.last

    def some(self) -> list[int]:
        """A few of its sizes: those at its ends, and some between or beyond."""
        far = self.first + 64 * self.step if self.last is None else self.last
        inside = [self.first + k * self.step for k in (0, 1, 2, 3, 5, 8, 13, 29)]
        return [size for size in inside if size < far] + [far]

    def __contains__(self, size: object) -> bool:
        return (
            isinstance(size, int)
            and size >= self.first
            and (self.last is None or size <= self.last)
            and (size - self.first) % self.step == 0
        )


Condition = Callable[..., bool]
"""Takes the sizes in it, in the order of the names it was compiled with."""


def compiled(text: str, *names: str) -> Condition:
    """A condition printed by torch's Python printer, as a function of the sizes in it.

    Args:
        text: a Python expression over numbers, operators and `names`, as torch prints sympy; never
            text of the user's.
        names: what the sizes are called in it.
    """
    allowed = {"__builtins__": {}, "math": math, "round": round, "max": max, "min": min}
    allowed |= {"abs": abs, "float": float, "int": int, "bool": bool}
    evaluated: Callable[..., Any] = eval(  # noqa: S307 - torch's own arithmetic
        f"lambda {', '.join(names)}: {text}", allowed
    )

    def holds(*sizes: int) -> bool:
        try:
            return bool(evaluated(*sizes))
        except (ArithmeticError, ValueError, TypeError):
            return False

    return holds


def solve_sizes(conditions: Sequence[Condition], example: int, least: int = 2) -> Progression:
    """The largest progression with the smallest step that holds the example.

    Args:
        conditions: what must hold; all do for the example, as far as tracing is concerned.
        example: the size in the example.
        least: the smallest size to try; torch treats 0 and 1 apart.

    Returns:
        The progression; the example alone where nothing else was found.
    """

    def holds(size: int) -> bool:
        return all(condition(size) for condition in conditions)

    tried = max(_TRIED, 4 * example)
    good = [holds(size) for size in range(tried + 1)]
    if example >= len(good) or not good[example]:
        return Progression(example, example)
    best = Progression(example, example)
    for step in _steps(good, example, tried):
        found = _around(good, example, step, least, holds)
        if found.last is None:
            return found
        if _count(found) > max(_count(best), 1 if step == 1 else _FEWEST - 1):
            best = found
    return best


def _steps(good: list[bool], example: int, tried: int) -> list[int]:
    """Steps worth a look: 1, and distances to other sizes that hold."""
    near = [abs(size - example) for size in range(tried + 1) if good[size] and size != example]
    return [1, *sorted({each for each in near if 1 < each <= _MOST_STEP})]


def _around(good: list[bool], example: int, step: int, least: int, holds: Condition) -> Progression:
    first = example
    while first - step >= least and good[first - step]:
        first -= step
    last = example
    while last + step < len(good) and good[last + step]:
        last += step
    if last + step < len(good):
        return Progression(first, last, step)
    return Progression(first, _end(last, step, holds), step)


def _end(last: int, step: int, holds: Condition) -> int | None:
    """The last size of a run that goes on beyond those tried; None if it has no end."""
    far = [last + (size - last) // step * step for size in _FAR if size > last + step]
    broken = next((size for size in far if not holds(size)), None)
    if broken is None:
        return None
    low = max([last, *(size for size in far if size < broken)])
    high = broken
    while high - low > step:
        middle = low + (high - low) // step // 2 * step
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _count(found: Progression) -> float:
    if found.last is None:
        return float("inf")
    return (found.last - found.first) // found.step + 1
