"""Sizes to test a contract: corners, neighbours of guards' constants, primes, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from export_engine.record import Probe, Rule, probe_sizes, sizes_of_symbols
from export_engine.verify.program_under_test import Subject

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 23, 31)
_GROWTH = 4
"""The largest tested size, as a multiple of the example's, unless a bound is larger."""
_LARGEST = 1024
_MOST_ELEMENTS = 4096
_MOST_TIMES = 64
"""Limits on the elements of all inputs, absolute and as a multiple of the example's: beyond, the
check takes far longer than the export."""
_TRIES = 40


def inside(subject: Subject, most: int) -> list[list[int]]:
    """Sizes that the contract admits, each another, the example's first."""
    probe = subject.record.probe
    found = [[each.example for each in probe.inputs]]
    most_elements = max(_MOST_ELEMENTS, _MOST_TIMES * _elements(probe, found[0]))
    for sizes in _candidates(subject):
        if len(found) > most:
            break
        small = _elements(probe, sizes) <= most_elements
        if small and sizes not in found and probe_sizes(probe, sizes).verdict == "accepted":
            found.append(sizes)
    return found


def breaking(probe: Probe, rule: Rule) -> list[int] | None:
    """Sizes that break a rule, and as few others as can be found; None if none were."""
    example = [each.example for each in probe.inputs]
    best: tuple[int, list[int]] | None = None
    for sizes in _near(probe, rule, example):
        if any(size < 0 for size in sizes):
            continue
        broken = probe_sizes(probe, sizes).broken
        if rule in broken and (best is None or len(broken) < best[0]):
            best = (len(broken), sizes)
    return best[1] if best else None


def shown_sizes(subject: Subject, sizes: Sequence[int]) -> str:
    """Sizes by the symbols' names: `batch = 3, seq = 7`."""
    named: dict[str, int] = {}
    inputs = subject.record.probe.inputs
    for size, entry in zip(sizes, inputs, strict=True):
        if entry.symbol >= 0:
            name = subject.record.symbols[entry.symbol].name
            named.setdefault(name, (size - entry.offset) // entry.scale)
    if not named or all(size == each.example for size, each in zip(sizes, inputs, strict=True)):
        return "the example's sizes"
    return ", ".join(f"{name} = {size}" for name, size in named.items())


def counted_sizes(count: int) -> str:
    """`1 size`, `4 sizes`."""
    return f"{count} {'size' if count == 1 else 'sizes'}"


def _candidates(subject: Subject) -> Iterator[list[int]]:
    """All symbols at an end of their range, all prime, each at its own ends, then at random."""
    probe, record = subject.record.probe, subject.record
    numbers = random.Random(0)
    symbols = sorted({each.symbol for each in probe.inputs if each.symbol >= 0})
    if not symbols:
        return
    wishes = {number: _wishes(subject, number) for number in symbols}
    for pick in (0, -1):
        yield sizes_of_symbols(probe, {number: wishes[number][pick] for number in symbols})
    primes = {number: _prime(wishes[number], at) for at, number in enumerate(symbols)}
    yield sizes_of_symbols(probe, primes)
    for number in symbols:
        middle = {each: record.symbols[each].example or wishes[each][0] for each in symbols}
        for pick in (0, -1):
            yield sizes_of_symbols(probe, {**middle, number: wishes[number][pick]})
    for _ in range(_TRIES):
        choice = {number: numbers.choice(wishes[number]) for number in symbols}
        yield sizes_of_symbols(probe, choice)


def _wishes(subject: Subject, number: int) -> list[int]:
    """Values of a symbol worth trying, in order of size."""
    symbol = subject.record.symbols[number]
    example = symbol.example or 4
    low = max(symbol.lower or 0, 2)
    limit = min(symbol.upper or _LARGEST, _LARGEST)
    high = max(min(limit, max(_GROWTH * example, 32)), low)
    named = {
        int(each)
        for rule in subject.record.probe.rules
        for each in rule.formula
        if isinstance(each, int) and 1 < each <= limit
    }
    wished = {low, low + 1, example - 1, example + 1, 2 * example + 1, high, *_PRIMES}
    wished |= {each + step for each in named for step in (-1, 0, 1)}
    if symbol.upper is not None and symbol.upper <= _LARGEST:
        wished.add(symbol.upper)
        high = max(high, symbol.upper)
    multiples = {example * factor for factor in (1, 2, 3, 4)}
    return sorted(each for each in wished | multiples if low <= each <= high)


def _prime(wishes: Sequence[int], place: int) -> int:
    """A large prime among the wishes, if there is one; another for each place, while they last."""
    primes = [each for each in wishes if each in _PRIMES] or wishes
    return primes[-1 - place % len(primes)]


def _near(probe: Probe, rule: Rule, example: Sequence[int]) -> Iterator[list[int]]:
    """The example with one size changed, then with a symbol changed."""
    about = [int(each[1:]) for each in rule.formula if isinstance(each, str) and each[1:].isdigit()]
    named = [each for each in rule.formula if isinstance(each, int)]
    values = {each + step for each in (*named, *example) for step in (-1, 0, 1)} | {1, 2, 3, 5, 7}
    values |= {2 * each for each in example}
    for number in dict.fromkeys(about):
        for value in sorted(values):
            yield [*example[:number], value, *example[number + 1 :]]
    symbols = {probe.inputs[number].symbol for number in about} - {-1}
    for symbol in symbols:
        for value in sorted(values):
            yield sizes_of_symbols(probe, {symbol: value})


def _elements(probe: Probe, sizes: Sequence[int]) -> int:
    total: dict[int, int] = {}
    for size, entry in zip(sizes, probe.inputs, strict=True):
        total[entry.entry] = total.get(entry.entry, 1) * max(size, 1)
    return sum(total.values())
