"""Reads an attempt's facts about its input sizes: values, ranges, conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from export_engine.attempt import Attempt, signature_of
from export_engine.shapes import Leaf, Named, Pinned, Shapes, Spec, Static, leaves_of
from export_engine.source import Stack
from export_engine.torch_internals import (
    apply_replacements,
    find_range,
    symbol_printer,
    symbol_value,
)
from export_engine.traced_sizes.plain_relations import plain_text
from export_engine.traced_sizes.symbol_sources import InputPlace, birth_dims


@dataclass(frozen=True)
class InputDim:
    """A requested dynamic dim, and its result."""

    place: InputPlace
    wanted: Spec
    example: int
    value: Any
    """A sympy expression over root symbols; a number where the trace fixed it."""

    @property
    def fixed(self) -> bool:
        """Whether the trace specialized its size."""
        return not getattr(self.value, "free_symbols", None)


@dataclass(frozen=True)
class SizeCondition:
    """A condition that the trace relied on, with the sizes it knows of by then put in."""

    condition: Any
    """A sympy boolean over root symbols."""
    recorded: Any
    """As it was asked, over the symbols of input dims."""
    stack: Stack
    asked_by: str = ""
    """The op that asked; empty for the code itself."""


@dataclass(frozen=True)
class SizeFacts:
    """All of it, for one attempt."""

    shapes: Shapes
    """The request."""
    dims: tuple[InputDim, ...]
    conditions: tuple[SizeCondition, ...]
    ranges: Mapping[Any, tuple[int | None, int | None]]
    """Per root symbol: least and greatest size the trace allows."""
    examples: Mapping[Any, int]
    """Per root symbol: its value in the example."""
    places: Mapping[str, InputPlace] = field(default_factory=dict)
    """Per torch's name of a symbol, the input dim it was made for."""
    pins: tuple[InputDim, ...] = ()
    """The dims that are pinned to another size than the example's."""

    @cached_property
    def names(self) -> dict[str, str]:
        """What to call each symbol: its Dim's name, else `x.shape[0]`."""
        result: dict[str, str] = {}
        for symbol, place in self.places.items():
            specs = self.shapes.leaves.get(place.path, ())
            position = max(place.position, 0)
            spec = specs[position] if position < len(specs) else None
            plain = isinstance(spec, Named) and not spec.derived
            result[symbol] = spec.name if plain and isinstance(spec, Named) else str(place)
        return result

    def text(self, expression: Any) -> str:
        """An expression or a condition in the user's terms.

        Sizes that share a Dim are distinguished by their places: `seq == seq` would be useless.
        """
        names = {
            name: self.names[name]
            for value in getattr(expression, "free_symbols", ())
            if (name := str(value)) in self.names
        }
        shared = {name for name, count in Counter(names.values()).items() if count > 1}
        places = {key: str(self.places[key]) for key, name in names.items() if name in shared}
        entries = {**self.names, **places}
        return plain_text(expression, entries) or symbol_printer(entries)(expression)


def size_facts(attempt: Attempt) -> SizeFacts | None:
    """The facts; None if nothing was requested to be dynamic, or no trace began."""
    request = attempt.request
    if request is None:
        return None
    shapes = request.shapes
    if not shapes:
        return None
    leaves = leaves_of(signature_of(request.target), request.args, request.kwargs)
    recording = attempt.recording
    places = birth_dims(recording.births, [leaf.path for leaf in leaves])
    symbols = {
        place: birth.symbol
        for birth in recording.births
        if (place := places.get(str(birth.symbol)))
    }
    env = recording.shape_env
    dims = tuple(_iter_wanted_dims(shapes, leaves, symbols, env))
    roots = {root for dim in dims for root in getattr(dim.value, "free_symbols", ())}
    return SizeFacts(
        shapes,
        dims,
        tuple(_conditions(attempt, env)),
        {root: find_range(env, root) for root in roots},
        _examples(dims, env),
        places,
        tuple(_find_contradicted_pins(shapes, leaves)),
    )


def _iter_wanted_dims(
    shapes: Shapes, leaves: Iterable[Leaf], symbols: Mapping[InputPlace, Any], env: Any
) -> Iterable[InputDim]:
    for leaf in leaves:
        tensor = isinstance(leaf.value, torch.Tensor)
        sizes = list(leaf.value.shape) if tensor else [leaf.value]
        for position, spec in enumerate(shapes.leaves.get(leaf.path, ())):
            if isinstance(spec, Static | Pinned) or position >= len(sizes):
                continue
            place = InputPlace(leaf.path, position if tensor else -1)
            symbol = symbols.get(place)
            value = sizes[position] if symbol is None else apply_replacements(env, symbol)
            yield InputDim(place, spec, sizes[position], value)


def _find_contradicted_pins(shapes: Shapes, leaves: Iterable[Leaf]) -> Iterable[InputDim]:
    for leaf in leaves:
        tensor = isinstance(leaf.value, torch.Tensor)
        sizes = list(leaf.value.shape) if tensor else [leaf.value]
        specs = shapes.leaves.get(leaf.path, ())
        for position, (spec, size) in enumerate(zip(specs, sizes, strict=False)):
            if isinstance(spec, Pinned) and spec.size != size:
                yield InputDim(InputPlace(leaf.path, position if tensor else -1), spec, size, size)


def _conditions(attempt: Attempt, env: Any) -> Iterable[SizeCondition]:
    seen: set[tuple[Any, Stack]] = set()
    for guard in attempt.recording.guards:
        if not getattr(guard.condition, "free_symbols", None):
            continue
        condition = apply_replacements(env, guard.condition)
        if (guard.condition, guard.stack) not in seen:
            seen.add((guard.condition, guard.stack))
            yield SizeCondition(condition, guard.condition, guard.stack, guard.asked_by)


def _examples(dims: Iterable[InputDim], env: Any) -> dict[Any, int]:
    values: dict[Any, int] = {}
    for dim in dims:
        for root in getattr(dim.value, "free_symbols", ()):
            value = symbol_value(env, root)
            if value is not None:
                values[root] = value
    return values
