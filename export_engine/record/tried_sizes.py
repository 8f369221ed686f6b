"""Sizes that were tried, in words. It imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_MOST_VALUES = 12
_MOST_CHOICES = 3
"""Choices of several sizes that are listed one by one."""


def sizes_shown(sizes: Mapping[str, int]) -> str:
    """`batch = 3, seq = 7`."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def sizes_tried(choices: Sequence[Mapping[str, int]]) -> str:
    """Where something was run: `batch 0, 1, 2, 3, 7`.

    Of several symbols, the values of each and how many of their combinations were run: never more
    than was. Without symbols, `the example's sizes`.

    Args:
        choices: per run, the value of each symbol.
    """
    named = [choice for choice in choices if choice]
    if not named:
        return "the example's sizes"
    names = list(dict.fromkeys(name for group in named for name in group))
    if len(names) > 1 and len(named) <= _MOST_CHOICES:
        return "; ".join(sizes_shown(group) for group in named)
    values = [
        f"{name} {_format_values(sorted({group[name] for group in named if name in group}))}"
        for name in names
    ]
    if len(names) == 1:
        return values[0]
    return f"{len(named)} combinations of {' and '.join(values)}"


def _format_values(values: Sequence[int]) -> str:
    """`0, 1, 2, 3, 7`; of many, the first and the last."""
    if len(values) <= _MOST_VALUES:
        return ", ".join(map(str, values))
    shown = [*map(str, values[: _MOST_VALUES - 2]), "…", str(values[-1])]
    return f"{', '.join(shown)} ({len(values)} sizes)"
