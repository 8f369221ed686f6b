"""Solves conditions on one size: the sizes around the example for which all of them hold.

What is found is a progression, all sizes `first + k*step`, which is what a range (step 1) or a
derived dim (`4*_h`) can say. It is exact, and takes as long for an example of 10**9 as for one of
10: `piecewise` turns floor divisions and remainders by numbers into polynomials. A condition
without an exact answer is tested near the example, and the progression is marked as not exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import lcm

from export_engine.sizes.expression import UnreadableError
from export_engine.sizes.formula import Evaluator, Formula, compile_formula
from export_engine.sizes.piecewise import Pieces, solve_by_residue
from export_engine.sizes.polynomials import Unsolved

_MOST_PERIOD = 4096
_NEAR = 2048
"""How far from the example sizes are tested if there is no exact answer."""
_FAR = (9_973, 65_537, 1_000_003, 16_777_259)
_FEWEST = 3
"""Sizes that a progression with a step must have, to be more than chance."""


@dataclass(frozen=True)
class Progression:
    """The sizes first, first + step, ... up to `last`, or without end."""

    first: int
    last: int | None
    step: int = 1
    exact: bool = field(default=True, compare=False)
    """Whether it is exact; else it was found by testing sizes near the example."""

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


@dataclass(frozen=True)
class Condition:
    """A condition on sizes, to be called with them in the order of their names."""

    text: str
    names: tuple[str, ...]

    @cached_property
    def formula(self) -> Formula:
        """It as a formula; empty where it has none."""
        numbers = {name: f"d{number}" for number, name in enumerate(self.names)}
        try:
            return compile_formula(self.text, numbers.get)
        except UnreadableError:
            return []

    @cached_property
    def _value(self) -> Evaluator:
        return Evaluator(self.formula)

    def __call__(self, *sizes: int) -> bool:
        """Whether it holds; one without a value, such as a division by zero, does not."""
        try:
            return bool(self.formula) and bool(self._value(sizes))
        except (ArithmeticError, ValueError, TypeError):
            return False


@lru_cache(maxsize=1024)
def compile_condition(text: str, *names: str) -> Condition:
    """A condition printed by torch's Python printer, as a function of the sizes in it.

    A search for fixes asks for the same ones after each export, which is why they are kept.

    Args:
        text: a Python expression over numbers, operators and `names`. It is parsed, never run.
        names: what the sizes are called in it.
    """
    return Condition(text, names)


def solve_sizes(conditions: Sequence[Condition], example: int, least: int = 2) -> Progression:
    """The largest progression with the smallest step that holds the example.

    Args:
        conditions: on one size each; all hold for the example, as far as tracing is concerned.
        example: the size in the example.
        least: the smallest size to try; torch specializes on 0 and 1.

    Returns:
        The progression; the example alone where nothing else was found.
    """
    return _solution(tuple(dict.fromkeys(conditions)), example, least)


@lru_cache(maxsize=256)
def _solution(different: tuple[Condition, ...], example: int, least: int) -> Progression:
    if not all(condition(example) for condition in different):
        return Progression(
            example, example, exact=all(condition.formula for condition in different)
        )
    try:
        around: _Around = _Exact(different, example, least)
    except Unsolved:
        around = _Tried(different, example, least)
    best = Progression(example, example, exact=around.exact)
    for step in around.steps():
        progression = around.along(step)
        if progression.last is None:
            return progression
        if _count(progression) > max(_count(best), 1 if step == 1 else _FEWEST - 1):
            best = progression
    return best


class _Around:
    """Conditions that hold around an example."""

    exact: bool

    def steps(self) -> Iterator[int]:
        """Steps worth a look, the smallest first."""
        raise NotImplementedError

    def along(self, step: int) -> Progression:
        """The longest progression of a step that the example is in."""
        raise NotImplementedError


class _Exact(_Around):
    """The exact solution: modulo the conditions' period, each is true in a few intervals."""

    exact = True

    def __init__(self, conditions: Sequence[Condition], example: int, least: int) -> None:
        self._example, self._least = example, least
        solved = [_solve_condition(condition) for condition in conditions]
        self._period = lcm(*(len(groups) for groups in solved))
        if self._period > _MOST_PERIOD:
            raise Unsolved
        self._below, self._above = [], []
        for residue in range(self._period):
            bad = [groups[residue % len(groups)] for groups in solved]
            below, above = _nearest(bad, residue, self._period, example)
            self._below.append(below)
            self._above.append(above)

    def steps(self) -> Iterator[int]:
        return (step for step in range(1, self._period + 1) if self._period % step == 0)

    def along(self, step: int) -> Progression:
        residues = range(self._example % step, self._period, step)
        below = max(self._below[residue] for residue in residues)
        ends = [above for residue in residues if (above := self._above[residue]) is not None]
        lowest = max(below + step, self._least + (self._example - self._least) % step)
        last = min(ends) - step if ends else None
        return Progression(min(lowest, self._example), last, step)


@lru_cache(maxsize=1024)
def _solve_condition(condition: Condition) -> list[Pieces]:
    """Per residue modulo the condition's period, the sizes at which it does not hold."""
    if not condition.formula:
        raise Unsolved
    return solve_by_residue(condition.formula, _MOST_PERIOD)


def _nearest(
    bad: Sequence[Pieces], residue: int, period: int, example: int
) -> tuple[int, int | None]:
    """The nearest excluded sizes of a residue on each side of the example."""
    below, above = -1, None
    below -= (-1 - residue) % period  # no size is below 0
    for pieces in bad:
        for low, high in pieces:
            up = max(low, example)
            up += (residue - up) % period
            if (high is None or up <= high) and (above is None or up < above):
                above = up
            down = example if high is None else min(high, example)
            down -= (down - residue) % period
            if down >= low:
                below = max(below, down)
    return below, above


class _Tried(_Around):
    """The tested solution: sizes near the example, and a few far ones."""

    exact = False

    def __init__(self, conditions: Sequence[Condition], example: int, least: int) -> None:
        self._example, self._least = example, least
        self._conditions = conditions
        self._low = max(least, example - _NEAR)
        self._high = example + 2 * _NEAR
        groups = [_holds_within(condition, self._low, self._high) for condition in conditions]
        self._good = {
            self._low + at for at, held in enumerate(zip(*groups, strict=True)) if all(held)
        }

    def _holds(self, size: int) -> bool:
        return all(condition(size) for condition in self._conditions)

    def steps(self) -> Iterator[int]:
        near = {abs(size - self._example) for size in self._good} - {0, 1}
        return iter([1, *sorted(number for number in near if number <= _NEAR // 2)])

    def along(self, step: int) -> Progression:
        first = last = self._example
        while first - step in self._good:
            first -= step
        while last + step in self._good:
            last += step
        if last + step <= self._high:
            return Progression(first, last, step, exact=False)
        return Progression(first, self._end(last, step), step, exact=False)

    def _end(self, last: int, step: int) -> int | None:
        """The last size of a run that goes on beyond those tried; None if no end was found."""
        distances = sorted([*_FAR, *(self._example * times for times in (1, 8, 64))])
        far = [last + size // step * step for size in distances if size > step]
        broken = next((size for size in far if not self._holds(size)), None)
        if broken is None:
            return None
        low, high = max([last, *(size for size in far if size < broken)]), broken
        while high - low > step:
            middle = low + (high - low) // step // 2 * step
            low, high = (middle, high) if self._holds(middle) else (low, middle)
        return low


@lru_cache(maxsize=1024)
def _holds_within(condition: Condition, low: int, high: int) -> bytes:
    """For each size from low to high whether a condition holds: 1 or 0."""
    return bytes(condition(size) for size in range(low, high + 1))


def _count(found: Progression) -> float:
    if found.last is None:
        return float("inf")
    return (found.last - found.first) // found.step + 1
