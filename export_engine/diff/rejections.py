"""The sizes that one of two programs accepts and the other rejects. Nothing runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from export_engine.record import ProbeResult, Record, probe_sizes, sizes_of_symbols

_MOST = 8


class Rejection(NamedTuple):
    """Sizes of a call that two programs judge differently."""

    sizes: str
    """The difference from the example: `x.shape[0] = 1, y.shape[0] = 1`."""
    before: str
    """`accepted`, or the rule that is broken: `rejected: x.shape[0] >= 2`."""
    after: str


def find_different_rejections(before: Record, after: Record, most: int = _MOST) -> list[Rejection]:
    """The first sizes tried that the programs judge differently; one size varied at a time.

    Args:
        before: of a program.
        after: of another; both take the same inputs, else there is nothing to compare.
        most: how many to give.
    """
    places = [size.text for size in before.probe.inputs]
    if not places or [size.text for size in after.probe.inputs] != places:
        return []
    examples = [size.example for size in before.probe.inputs]
    rejections: dict[tuple[int, ...], Rejection] = {}
    for sizes in (*_iter_sizes_to_try(before), *_iter_sizes_to_try(after)):
        if tuple(sizes) in rejections or min(sizes) < 0:
            continue
        one, other = probe_sizes(before.probe, sizes), probe_sizes(after.probe, sizes)
        if one.verdict != other.verdict:
            pairs = zip(places, sizes, examples, strict=True)
            text = ", ".join(f"{place} = {size}" for place, size, number in pairs if size != number)
            rejections[tuple(sizes)] = Rejection(
                text, _describe_result(one), _describe_result(other)
            )
        if len(rejections) == most:
            break
    return list(rejections.values())


def _iter_sizes_to_try(record: Record) -> Iterator[Sequence[int]]:
    """Sizes with one symbol at and beside its ends, small, and beside the example."""
    inputs = record.probe.inputs
    for number in dict.fromkeys(size.symbol for size in inputs if size.symbol >= 0):
        symbol = record.symbols[number]
        of_example = {
            (size.example - size.offset) // size.scale for size in inputs if size.symbol == number
        }
        tried = {0, 1, 2, 3, *(size + step for size in of_example for step in (-1, 1, size))}
        for end in (symbol.lower, symbol.upper):
            tried |= set() if end is None else {end - 1, end, end + 1}
        for value in sorted(tried):
            yield sizes_of_symbols(record.probe, {number: value})
    for number, probe_input in enumerate(inputs):
        if probe_input.symbol < 0:  # a size that is fixed, as far as this program knows
            examples = [other.example for other in inputs]
            yield [*examples[:number], probe_input.example + 1, *examples[number + 1 :]]


def _describe_result(result: ProbeResult) -> str:
    if result.verdict == "accepted":
        return "accepted"
    text = (
        "rejected"
        if result.verdict == "refused"
        else ("accepted, although it is outside the declared shapes")
    )
    return f"{text}: {result.broken[0].text}"
