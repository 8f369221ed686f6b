"""The inputs of a plan's call, from earlier results: tokens, masks, positions, a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from export_engine.record import (
    Constant,
    Extended,
    Given,
    Ones,
    Passed,
    Positions,
    Source,
    Tokens,
)


class PlanFailed(ValueError):
    """A plan does not fit its inputs or programs. The message is a sentence."""


@dataclass
class SoFar:
    """A generation before one of its calls."""

    given: Mapping[str, torch.Tensor]
    """What `generate()` was given."""
    tokens: torch.Tensor
    """`[batch, tokens]`."""
    prompt: int
    """How many of them were there at first."""
    outputs: dict[str, list[object]] = field(default_factory=dict)
    """Each program's last results, flattened; the one that ran last is last."""
    inputs: dict[str, list[object]] = field(default_factory=dict)
    """Its arguments, as its call left them."""

    def ran(self, program: str, inputs: list[object], outputs: list[object]) -> None:
        """Notes a call."""
        for group, new in ((self.inputs, inputs), (self.outputs, outputs)):
            group.pop(program, None)
            group[program] = new


def value_of(source: Source, dtype: torch.dtype, so_far: SoFar) -> torch.Tensor:
    """The tensor that a source is, before a call.

    Raises:
        PlanFailed: there is no such input, or no such output yet.
    """
    tokens = so_far.tokens
    rows, length = tokens.shape
    match source:
        case Given(name):
            return _find_given(name, so_far)
        case Extended(name, fill):
            return _extend(_find_given(name, so_far), fill, so_far)
        case Tokens(last):
            return tokens[:, -1:] if last else tokens
        case Passed(outputs, written, skip, flat):
            inputs = so_far.inputs if written else so_far.outputs
            return _cut(_find_output(outputs, inputs), skip, flat)
        case Ones(offset):
            return torch.ones(rows, max(length + offset, 0), dtype=dtype, device=tokens.device)
        case Positions():
            return _positions(source, so_far).to(dtype)
        case Constant(shape, values):
            return torch.tensor(values, dtype=dtype, device=tokens.device).reshape(shape)


def _find_given(name: str, so_far: SoFar) -> torch.Tensor:
    if name not in so_far.given:
        raise PlanFailed(f"The programs require `{name}`. Add it to the inputs.")
    return so_far.given[name]


def _extend(given: torch.Tensor, fill: int, so_far: SoFar) -> torch.Tensor:
    """The argument, extended by a column for each new token."""
    if given.dim() != 2:
        raise PlanFailed("The mask must have two dims: rows and tokens.")
    more = so_far.tokens.shape[1] - so_far.prompt
    return torch.cat([given, given.new_full((given.shape[0], more), fill)], dim=1)


def _find_output(outputs: list[tuple[str, int]], known: Mapping[str, list[object]]) -> torch.Tensor:
    places = dict(outputs)
    for program in reversed(list(known)):
        if program in places and places[program] < len(known[program]):
            result = known[program][places[program]]
            if isinstance(result, torch.Tensor):
                return result
    raise PlanFailed(f"`{outputs[0][0]}` does not return a tensor that a later call requires.")


def _cut(found: torch.Tensor, skip: int, flat: bool) -> torch.Tensor:
    """A tensor without the front of its second dim, and with its first two dims as one."""
    if (skip or flat) and found.dim() < 2:
        raise PlanFailed("A program returns a tensor with fewer dims than the set records.")
    found = found[:, skip:] if skip else found
    return found.flatten(0, 1) if flat else found


def _positions(source: Positions, so_far: SoFar) -> torch.Tensor:
    tokens = so_far.tokens
    if source.mask:
        mask = _extend(_find_given(source.mask, so_far), 1, so_far).long()
        tensor = (mask.cumsum(-1) - 1).masked_fill(mask == 0, source.padded) + source.offset
    else:
        tensor = torch.arange(tokens.shape[1], device=tokens.device) + source.offset
        tensor = tensor.expand(len(tokens), -1)
    tensor = tensor[:, -1:] if source.last else tensor
    if source.lead == -2:
        return tensor[0]
    if source.lead == -1:
        return tensor[:1]
    return tensor.expand(source.lead, *tensor.shape) if source.lead else tensor
