"""Weights that several programs hold: one memory, equal copies, or copies that differ."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from export_engine.archive import HeldWeight
from export_engine.programs.component import Component
from export_engine.record import Seam, WeightRow


class Shared(NamedTuple):
    """Sizes and weights that the programs of a set share."""

    rows: list[WeightRow]
    shared_bytes: int
    duplicated_bytes: int


def find_shared_weights(components: Sequence[Component], seams: Sequence[Seam] = ()) -> Shared:
    """The weights that more than one program holds.

    Copies under one name that differ count only between programs that have most such weights in
    common, or of which one continues the other's cache with all of its weights: two towers may
    both call a weight `proj.weight`.
    """
    continued = {
        (seam.source, seam.target)
        for seam in seams
        if any(flow.kind == "cache" for flow in seam.flows)
    }
    rows = list(_iter_shared(components))
    done = {
        components[holder].weights[name].place
        for row in rows
        for holder, name in zip(row.holders, row.names, strict=True)
    }  # tied weights have several names and one memory
    left = [
        {name: held for name, held in component.weights.items() if held.place not in done}
        for component in components
    ]
    together = _together(rows)
    copies: dict[tuple[int, str], list[tuple[int, str]]] = {}
    for one, other in combinations(range(len(components)), 2):
        equal: list[tuple[str, str]] = []
        apart: list[tuple[str, str]] = []
        pairs = list(_pairs(left[one], left[other]))
        for mine, theirs in pairs:
            ours, copy = left[one][mine], left[other][theirs]
            (equal if ours.content() == copy.content() else apart).append((mine, theirs))
        equal += _iter_renamed(left[one], left[other], pairs)
        telling = sum(_is_telling(left[one][mine]) for mine, _ in equal)
        common = telling + together.get((one, other), 0)
        whole = len(pairs) == len(left[one]) == len(left[other])
        same_model = whole and (one, other) in continued
        if not common and not same_model:
            continue
        for mine, theirs in equal:
            copies.setdefault((one, mine), []).append((other, theirs))
        if common >= len(apart) or same_model:
            rows += [
                WeightRow([mine, theirs], [one, other], "different", left[one][mine].bytes)
                for mine, theirs in apart
            ]
    rows += _iter_duplicates(copies, left)
    return Shared(
        rows,
        sum(row.bytes * (len(row.holders) - 1) for row in rows if row.state == "shared"),
        sum(row.bytes * (len(row.holders) - 1) for row in rows if row.state == "duplicated"),
    )


def _is_telling(held: HeldWeight) -> bool:
    """Whether equal values mean anything: a bias of zeros, a norm's ones are equal anywhere."""
    return "," in held.type


def _iter_shared(components: Sequence[Component]) -> Iterator[WeightRow]:
    holders: dict[str, dict[int, str]] = {}
    sizes: dict[str, int] = {}
    for at, component in enumerate(components):
        for name, held in component.weights.items():
            if held.place and held.bytes:
                holders.setdefault(held.place, {}).setdefault(at, name)
                sizes[held.place] = held.bytes
    for place, names in holders.items():
        if len(names) > 1:
            yield WeightRow(list(names.values()), list(names), "shared", sizes[place])


def of_one_model(rows: Sequence[WeightRow]) -> list[tuple[int, int]]:
    """Each two programs that have a weight in common."""
    return sorted(_together(rows))


def _together(rows: Sequence[WeightRow]) -> dict[tuple[int, int], int]:
    """How many weights each two programs share."""
    result: dict[tuple[int, int], int] = {}
    for row in rows:
        for pair in combinations(row.holders, 2):
            result[pair] = result.get(pair, 0) + 1
    return result


def _pairs(
    ours: Mapping[str, HeldWeight], theirs: Mapping[str, HeldWeight]
) -> Iterator[tuple[str, str]]:
    """Weights of two programs that are one by name and type; a wrapper's prefix does not count."""
    by_end: dict[str, list[str]] = {}
    for name in theirs:
        parts = name.split(".")
        for at in range(len(parts)):
            by_end.setdefault(".".join(parts[at:]), []).append(name)
    for name, held in ours.items():
        parts = name.split(".")
        texts = [name] if name in theirs else by_end.get(name, [])
        for at in range(1, len(parts) - 1):
            texts = texts or [text for text in [".".join(parts[at:])] if text in theirs]
        if len(texts) == 1 and theirs[texts[0]].type == held.type:
            yield name, texts[0]


def _iter_renamed(
    ours: Mapping[str, HeldWeight],
    theirs: Mapping[str, HeldWeight],
    pairs: Sequence[tuple[str, str]],
) -> Iterator[tuple[str, str]]:
    """Weights of equal values in two programs that call them differently."""
    mine = _by_content(
        ours, {name for name, _ in pairs}, {weight.type for weight in theirs.values()}
    )
    other = _by_content(
        theirs, {name for _, name in pairs}, {weight.type for weight in ours.values()}
    )
    for content, names in mine.items():
        texts = other.get(content, [])
        if len(names) == len(texts) == 1:
            yield names[0], texts[0]


def _by_content(
    held: Mapping[str, HeldWeight], paired: Collection[str], types: Collection[str]
) -> dict[str, list[str]]:
    """The names of weights that are not paired yet, by values; only types that both have."""
    groups: dict[str, list[str]] = {}
    for name, weight in held.items():
        if name not in paired and weight.type in types and _is_telling(weight):
            groups.setdefault(f"{weight.type} {weight.content()}", []).append(name)
    return groups


def _iter_duplicates(
    copies: Mapping[tuple[int, str], Sequence[tuple[int, str]]],
    held: Sequence[Mapping[str, HeldWeight]],
) -> Iterator[WeightRow]:
    pairs: set[tuple[int, str]] = set()
    for first, others in copies.items():
        if first in pairs:
            continue
        group = [first, *(pair for pair in others if pair not in pairs)]
        pairs.update(group)
        yield WeightRow(
            [name for _, name in group],
            [at for at, _ in group],
            "duplicated",
            held[first[0]][first[1]].bytes,
        )
