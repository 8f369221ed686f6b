"""The times of kernels by the user's lines. A kernel of several lines counts for their set."""

from __future__ import annotations

from typing import NamedTuple

from export_engine.record import Stages


class LineSet(NamedTuple):
    """Lines that kernels compute for together, and the time of these kernels."""

    lines: tuple[int, ...]
    """Into `Stages.lines`; empty for the kernels that no line is known of."""
    kernels: tuple[int, ...]
    microseconds: float


class LineTime(NamedTuple):
    """The time of the kernels of one line."""

    line: int
    """Into `Stages.lines`."""
    alone: float
    """Microseconds of kernels that compute for this line only."""
    shared: float
    """Microseconds of kernels shared with other lines: they count for each of these."""


def times_by_line_set(stages: Stages) -> list[LineSet]:
    """Each kernel once: by the set of lines that it computes for, the slowest set first."""
    kernels: dict[tuple[int, ...], list[int]] = {}
    for number, kernel in enumerate(stages.kernels):
        kernels.setdefault(tuple(kernel.lines), []).append(number)
    rows = [LineSet(lines, tuple(of), _time_of(stages, of)) for lines, of in kernels.items()]
    return sorted(rows, key=lambda row: -row.microseconds)


def times_by_line(stages: Stages) -> list[LineTime]:
    """Each line with its kernels' time, the slowest first. Shared kernels are in several rows."""
    alone = [0.0] * len(stages.lines)
    shared = [0.0] * len(stages.lines)
    for kernel in stages.kernels:
        for line in kernel.lines:
            into = alone if len(kernel.lines) == 1 else shared
            into[line] += max(kernel.microseconds, 0.0)
    rows = [LineTime(n, alone[n], shared[n]) for n in range(len(stages.lines))]
    return sorted(rows, key=lambda row: (-(row.alone + row.shared), row.line))


def _time_of(stages: Stages, kernels: list[int]) -> float:
    return sum(max(stages.kernels[kernel].microseconds, 0.0) for kernel in kernels)
