"""Sizes to test a contract: those of the one list that it admits, and ones that break a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from export_engine.record import Probe, Rule, probe_sizes, sizes_of_symbols, sizes_shown
from export_engine.verify.program_under_test import Subject
from export_engine.verify.untraced_sizes import choose_sizes, evaluate_size


class Plan(NamedTuple):
    """Which sizes of a contract to compare at."""

    tried: list[list[int]]
    """One size for each entry of the Record's probe; the example's first."""
    left: list[list[int]]
    """Sizes that there is no time for, the most suspicious first."""


def plan_sizes(subject: Subject, most: int) -> Plan:
    """The sizes that the contract admits to compare at.

    Where no least size was asked for, torch's own, which is 2, rejects no call: 0 and 1 count.

    Args:
        subject: the program under test.
        most: beside the example's. 0, 1 and numbers that the code compares a size with are tried
            all the same.
    """
    plan = Plan([[size.example for size in subject.record.probe.inputs]], [])
    for choice in choose_sizes(subject.symbolic, subject.numbers):
        sizes = _sizes_of_inputs(subject, choice.values)
        if sizes in plan.tried or sizes in plan.left:
            continue
        if probe_sizes(subject.record.probe, sizes).verdict != "refused":
            tried = choice.pressing or len(plan.tried) <= most
            (plan.tried if tried else plan.left).append(sizes)
    return plan


def inside(subject: Subject, most: int) -> list[list[int]]:
    """The first sizes to compare at, the example's first."""
    return plan_sizes(subject, most).tried[: most + 1]


def _sizes_of_inputs(subject: Subject, values: Mapping[Any, int]) -> list[int]:
    """The sizes of inputs for values of the symbols, as the Record's probe has them."""
    entries, inputs = subject.symbolic.dims, subject.record.signature.inputs
    numbers = []
    for size in subject.record.probe.inputs:
        dims, at = entries.get(inputs[size.entry].path, []), max(size.dim, 0)
        numbers.append(evaluate_size(dims[at], values) if at < len(dims) else size.example)
    return numbers


def breaking(probe: Probe, rule: Rule) -> list[int] | None:
    """Sizes that break a rule, and as few others as can be found; None if none were."""
    example = [size.example for size in probe.inputs]
    best: tuple[int, list[int]] | None = None
    for sizes in _near(probe, rule, example):
        if any(size < 0 for size in sizes):
            continue
        broken = probe_sizes(probe, sizes).broken
        if rule in broken and (best is None or len(broken) < best[0]):
            best = (len(broken), sizes)
    return best[1] if best else None


def name_sizes(subject: Subject, sizes: Sequence[int]) -> dict[str, int]:
    """Sizes by the symbols' names: `batch` is 3."""
    named: dict[str, int] = {}
    for size, entry in zip(sizes, subject.record.probe.inputs, strict=True):
        if entry.symbol >= 0:
            name = subject.record.symbols[entry.symbol].name
            named.setdefault(name, (size - entry.offset) // entry.scale)
    return named


def format_sizes(subject: Subject, sizes: Sequence[int]) -> str:
    """Sizes by the symbols' names: `batch = 3, seq = 7`."""
    return sizes_shown(name_sizes(subject, sizes)) or "the example's sizes"


def _near(probe: Probe, rule: Rule, example: Sequence[int]) -> Iterator[list[int]]:
    """The example with one size changed, then with a symbol changed."""
    about = [int(item[1:]) for item in rule.formula if isinstance(item, str) and item[1:].isdigit()]
    named = [item for item in rule.formula if isinstance(item, int)]
    values = {number + step for number in (*named, *example) for step in (-1, 0, 1)} | {
        1,
        2,
        3,
        5,
        7,
    }
    values |= {2 * number for number in example}
    for number in dict.fromkeys(about):
        for value in sorted(values):
            yield [*example[:number], value, *example[number + 1 :]]
    symbols = {probe.inputs[number].symbol for number in about} - {-1}
    for symbol in symbols:
        for value in sorted(values):
            yield sizes_of_symbols(probe, {symbol: value})
