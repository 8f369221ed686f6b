"""Assumptions that decide conditions on unbacked sizes.

Tracing fails if the code branches on a ShapeVar, which has no value. The example's answer can be
assumed: `seq > 1`, written as a bound if possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from export_engine.attempt import Attempt, signature_of
from export_engine.shapes import (
    OPPOSITE,
    Bounds,
    Int,
    Named,
    Relation,
    Shapes,
    ShapesError,
    Spec,
    bounds_said,
    combine,
    leaves_of,
    name_size,
    read_relations,
)
from export_engine.sizes import Expression, linear
from export_engine.torch_internals import is_unbacked, read_sympy
from export_engine.traced_sizes.example_inputs import leaf_values
from export_engine.traced_sizes.symbol_sources import InputPlace, birth_dims


def find_unbacked_places(attempt: Attempt) -> dict[str, InputPlace]:
    """The input dims that have an unbacked symbol, by torch's name of it."""
    request = attempt.request
    if request is None:
        return {}
    leaves = leaves_of(signature_of(request.target), request.args, request.kwargs)
    births = [birth for birth in attempt.recording.births if birth.source]
    places = birth_dims(births, [leaf.path for leaf in leaves])
    return {symbol: place for symbol, place in places.items() if is_unbacked(symbol)}


def assumable(attempt: Attempt, condition: Any) -> list[Relation]:
    """The assumptions that decide a condition on unbacked sizes as the example does.

    Args:
        attempt: a failed one.
        condition: a sympy boolean.

    Returns:
        Mostly one; none where the condition is about other things than sizes with a name, or where
        its answer would leave a size no choice.
    """
    request = attempt.request
    shapes = request.shapes if request else None
    places = find_unbacked_places(attempt)
    asked = read_sympy(condition)
    symbols = {symbol: places.get(symbol) for symbol in asked.symbols}
    if request is None or shapes is None or not symbols:
        return []
    names: dict[str, Expression] = {}
    for symbol, place in symbols.items():
        known = _expression(shapes, place) if place is not None else None
        if known is None:
            return []
        names[symbol] = known
    parts = asked.args if asked.kind == "Or" else (asked,)
    try:
        ways = [list(read_relations(part, names)) for part in parts]
    except ShapesError:
        return []
    sizes = example_sizes(shapes, leaf_values(request))
    if not all(sizes.keys() >= {*relation.names} for way in ways for relation in way):
        return []
    return _answer(ways, sizes)


def _answer(ways: list[list[Relation]], sizes: Mapping[str, int]) -> list[Relation]:
    """A condition on some sizes: one of several branches, or the opposite of each."""
    for way in ways:
        if all(relation.holds(sizes) for relation in way):
            return way
    if any(len(way) != 1 for way in ways):
        return []  # which part of it does not hold elsewhere, the example does not tell
    return [_opposite(way[0]) for way in ways]


def _expression(shapes: Shapes, place: InputPlace) -> Expression | None:
    position = max(place.position, 0)
    name = shapes.size_name(place.path, position)
    result = shapes.find_expression(place.path, position)
    return result or (name_size(name) if name else None)


def _opposite(relation: Relation) -> Relation:
    return Relation(OPPOSITE[relation.operator], relation.left, relation.right)


def example_sizes(shapes: Shapes, values: dict[str, Any]) -> dict[str, int]:
    """The example's value of each name that is a dim or an int by itself."""
    result: dict[str, int] = {}
    for path, specs in shapes.leaves.items():
        value = values.get(path)
        items = list(value.shape) if isinstance(value, torch.Tensor) else [value]
        for position, size in enumerate(items[: len(specs)]):
            spec = specs[position]
            named = isinstance(spec, Int) or (isinstance(spec, Named) and not spec.derived)
            name = shapes.size_name(path, position) if named else None
            if name is not None and isinstance(size, int):
                result.setdefault(name, size)
    return result


def assuming(shapes: Shapes, relation: Relation) -> Shapes:
    """The shapes with one more assumption, as a bound where it says one.

    Raises:
        ShapesError: that leaves only one size.
    """
    pair = linear(combine("-", relation.left, relation.right))
    if pair is None or len(pair[0]) != 1:
        between = bounds_said(relation) if pair is None else None
        (name, *_) = relation.names
        if between is not None and name not in shapes.ints():
            narrowed = _intersect_bounds(shapes, name, between)
            if narrowed != shapes:
                return narrowed
            # All sizes within the bounds fulfil it. Torch, which asked, cannot tell that by itself.
        if any(assumption.said == relation.said for assumption in shapes.assumptions):
            return shapes
        return replace(shapes, assumptions=(*shapes.assumptions, relation))
    ((name, scale),), offset = pair[0].items(), pair[1]
    low, high = _bounds(shapes, name)
    excluded, rest = divmod(-offset, scale)
    sign = relation.operator
    if scale < 0:
        sign = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(sign, sign)
    match sign:
        case "==":
            raise ShapesError(f"{name} could only be {excluded}")
        case "!=" if rest or excluded < (low if low is not None else excluded):
            return shapes
        case "!=" if excluded == low:
            low = excluded + 1
        case "!=" if excluded == high:
            high = excluded - 1
        case "!=":
            said = Relation("!=", name_size(name), excluded)
            return replace(shapes, assumptions=(*shapes.assumptions, said))
        case "<=" | "<":
            most = excluded - 1 if sign == "<" and not rest else excluded
            high = most if high is None else min(high, most)
        case _:
            least = excluded + 1 if rest or sign == ">" else excluded
            low = least if low is None else max(low, least)
    return _intersect_bounds(shapes, name, Bounds(low, high))


def _intersect_bounds(shapes: Shapes, name: str, said: Bounds) -> Shapes:
    """The shapes with bounds of a size that are as narrow as both say.

    Raises:
        ShapesError: that leaves it no choice.
    """
    bounds = _bounds(shapes, name)
    low = max((number for number in (bounds.low, said.low) if number is not None), default=None)
    high = min((number for number in (bounds.high, said.high) if number is not None), default=None)
    if low is not None and high is not None and low >= high:
        raise ShapesError(f"{name} could only be {high}")
    return _without_excluded(_set_bounds(shapes, name, Bounds(low, high)), name)


def _bounds(shapes: Shapes, name: str) -> Bounds:
    number = shapes.ints().get(name)
    if number is not None:
        return Bounds(number.low, number.high)
    low, high = shapes.dims()[name]
    return Bounds(low or 0, high)


def _set_bounds(shapes: Shapes, name: str, bounds: Bounds) -> Shapes:
    if name in shapes.ints():
        specs: tuple[Spec, ...] = (Int(*bounds),)
        return replace(shapes, leaves={**shapes.leaves, name: specs})
    return replace(shapes, bounds={**shapes.bounds, name: bounds})


def _without_excluded(shapes: Shapes, name: str) -> Shapes:
    """The shapes without `name != 1` where 1 is at an end of the bounds now, or beyond."""
    for assumption in shapes.assumptions:
        if (
            assumption.operator == "!="
            and assumption.left == name_size(name)
            and assumption.right.is_number
        ):
            (low, high), excluded = _bounds(shapes, name), assumption.right.value
            within = (low is None or low < excluded) and (high is None or excluded < high)
            if not within:
                kept = tuple(other for other in shapes.assumptions if other != assumption)
                return assuming(replace(shapes, assumptions=kept), assumption)
    return shapes
