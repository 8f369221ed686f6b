"""How a cost grows with one size: what overtakes what, and how far it fits into memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from export_engine.cost.amount import Amount, value_of
from export_engine.cost.op_cost import NOTHING
from export_engine.cost.program_cost import ProgramCost
from export_engine.plain_errors import WrongArgument

_FARTHEST = 2**24
"""Sizes above are not looked at, unless the program's own bound is larger."""


class Overtaking(NamedTuple):
    """From one size on, one kind of op does more than another."""

    size: str
    at: int
    """The smallest size at which it does."""
    more: str
    """The op that does most from there on, `scaled_dot_product_attention`."""
    less: str
    """The op that did most before."""


def find_overtakings(
    cost: ProgramCost, size: str, sizes: Mapping[str, int] | None = None
) -> list[Overtaking]:
    """Which kind of op does most FLOPs, and from which size on another does.

    Args:
        cost: of the program.
        size: the size that grows, by name.
        sizes: the others, by name; by default those of the example.

    Raises:
        WrongArgument: there is no such size.
    """
    kinds = _by_kind(cost)
    if not kinds:
        return []
    names, amounts = list(kinds), list(kinds.values())
    values = _values(cost, size, sizes or {})
    at = cost.symbols.index(size)

    def most(number: int) -> int:
        values[at] = number
        flops = value_of(amounts, values)
        return max(range(len(flops)), key=flops.__getitem__)

    least, farthest = cost.bounds(size)
    overtakings: list[Overtaking] = []
    low, before = max(least, 1), most(max(least, 1))
    while low < min(farthest, _FARTHEST):
        high = min(low * 2, farthest)
        after = most(high)
        if after != before:
            first = _first(low, high, _is_not(most, before))
            after = most(first)
            overtakings.append(Overtaking(size, first, names[after], names[before]))
            low, before = first, after
        else:
            low = high
    return overtakings


def find_largest(
    cost: ProgramCost, size: str, limit: int, sizes: Mapping[str, int] | None = None
) -> int | None:
    """The largest size at which weights, inputs and the peak fit into some memory.

    Args:
        cost: of the program.
        size: the size that grows, by name.
        limit: bytes.
        sizes: the others, by name; by default those of the example.

    Returns:
        The size; None if not even the least one fits.

    Raises:
        WrongArgument: there is no such size.
    """
    values = _values(cost, size, sizes or {})
    chosen = dict(zip(cost.symbols, values, strict=True))

    def is_over(number: int) -> bool:
        return cost.total_memory({**chosen, size: number}) > limit

    least, farthest = cost.bounds(size)
    low = max(least, 1)
    if is_over(low):
        return None
    end = min(farthest, _FARTHEST)
    high = low
    while high < end and not is_over(high):
        low, high = high, min(high * 2, end)
    return high if not is_over(high) else _first(low, high, is_over) - 1


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number of (low, high] at which something holds that does at `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def _is_not(value: Callable[[int], int], last: int) -> Callable[[int], bool]:
    return lambda number: value(number) != last


def _values(cost: ProgramCost, size: str, sizes: Mapping[str, int]) -> list[int]:
    if size not in cost.symbols:
        text = ", ".join(cost.symbols) or "none: every size is static"
        raise WrongArgument(f"There is no size {size!r}. Available: {text}.")
    least, _ = cost.bounds(size)
    chosen = cost.choose_sizes({size: max(least, 1), **sizes})
    return [chosen[name] for name in cost.symbols]


def _by_kind(cost: ProgramCost) -> dict[str, Amount]:
    kinds: dict[str, Amount] = {}
    for op in cost.ops:
        if op.cost.flops:
            name = op.op.removeprefix("aten.").split(".")[0]
            kinds[name] = kinds.get(name, NOTHING) + op.cost.flops
    return kinds
