"""The source of a call's tensor, recognized by its value in several calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from export_engine.generation.planned_inputs import PlanFailed, SoFar, value_of
from export_engine.record import (
    CONSTANT_VALUES,
    Constant,
    Extended,
    Given,
    Ones,
    Passed,
    Positions,
    Source,
    Tokens,
)

_MOST_LEFT_OUT = 9
"""Fewer rows are left out at the front of what an encoder gives: a class token, registers."""
Seen = tuple[SoFar, torch.Tensor]
"""A generation before a call, and what the call was given."""


def source_of(seen: Sequence[Seen]) -> Source | None:
    """The first source that gives the tensor of each call; None if none does.

    Args:
        seen: the same input of calls that are alike, of generations of several sizes.
    """
    so_far, value = seen[0]
    for candidate in _candidates(so_far, value):
        if all(_gives(candidate, *one) for one in seen):
            return candidate
    ways = [(False, 0, False), (True, 0, False)]
    if value.is_floating_point():  # what an encoder gives may be cut
        ways += [(False, skip, flat) for skip in range(_MOST_LEFT_OUT) for flat in (False, True)]
    items = (_recognize_output(seen, *way) for way in ways)
    return next(filter(None, items), None) or _constant(seen)


def _candidates(so_far: SoFar, value: torch.Tensor) -> Iterator[Source]:
    for name in so_far.given:
        yield Given(name)
        yield from (Extended(name, fill) for fill in (1, 0))
    yield from (Tokens(last) for last in (True, False))
    if value.is_floating_point() or not value.numel() or not value.dim():
        return
    yield from _positions(so_far, value)
    if value.dim() == 2:
        yield Ones(value.shape[1] - so_far.tokens.shape[1])


def _positions(so_far: SoFar, value: torch.Tensor) -> Iterator[Source]:
    """Positions that end as these do, in each layout of as many dims."""
    leads = {1: [-2], 2: [0, -1], 3: [value.shape[0]]}.get(value.dim(), [])
    masks = [name for name, tensor in so_far.given.items() if tensor.dim() == 2 and "mask" in name]
    end = int(value.reshape(-1)[-1]) - (so_far.tokens.shape[1] - 1)
    for lead in leads:
        for last in (False, True):
            for mask in masks:
                for padded in (1, 0):
                    for offset in (0, 1, 2):
                        yield Positions(last, offset, lead, mask, padded)
            yield Positions(last, end, lead)


def _gives(source: Source, so_far: SoFar, value: torch.Tensor) -> bool:
    try:
        tensor = value_of(source, value.dtype, so_far)
    except PlanFailed:
        return False
    return (
        tensor.shape == value.shape and tensor.dtype == value.dtype and torch.equal(tensor, value)
    )


def _recognize_output(seen: Sequence[Seen], written: bool, skip: int, flat: bool) -> Passed | None:
    """Earlier results, sliced: one output of each program that may have run last."""
    outputs: dict[str, int] = {}
    for so_far, value in seen:
        inputs = so_far.inputs if written else so_far.outputs
        if outputs and _gives(Passed(list(outputs.items()), written, skip, flat), so_far, value):
            continue
        fits = (
            (program, place)
            for program in reversed(list(inputs))
            for place in range(len(inputs[program]))
            if program not in outputs
            and _gives(Passed([(program, place)], written, skip, flat), so_far, value)
        )
        new = next(fits, None)
        if new is None:
            return None
        outputs[new[0]] = new[1]
    result = Passed(list(outputs.items()), written, skip, flat)
    return result if all(_gives(result, *one) for one in seen) else None


def _constant(seen: Sequence[Seen]) -> Constant | None:
    value = seen[0][1]
    small = value.numel() <= CONSTANT_VALUES and bool(value.isfinite().all())
    if not small or not all(torch.equal(value, tensor) for _, tensor in seen):
        return None
    return Constant(list(value.shape), value.reshape(-1).tolist())
