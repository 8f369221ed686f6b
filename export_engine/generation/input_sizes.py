"""Inputs of a generation at other sizes: another batch, a longer prompt, a padded row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

_TOKENS = ("input_ids", "decoder_input_ids")
_MASK = "attention_mask"
_OF_TOKENS = ("input_ids", _MASK, "token_type_ids", "mm_token_type_ids", "position_ids")
"""Inputs that grow with the prompt, by their second dim."""
LEAST = 2
"""Rows and prompt tokens of an example: torch specializes sizes of 0 and 1."""


def example_of(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with at least two rows and two tokens, and a mask that is not all ones."""
    entries = dict(inputs)
    if batch_of(entries) < LEAST:
        entries = with_batch(entries, LEAST)
    if 0 < prompt_of(entries) < LEAST:
        entries = with_prompt(entries, LEAST)
    return _pad_row(entries)


def batch_of(inputs: Mapping[str, Any]) -> int:
    """How many rows the inputs have.

    Raises:
        ValueError: no input is a tensor with dims.
    """
    first = [inputs[name] for name in _TOKENS if isinstance(inputs.get(name), torch.Tensor)]
    tensors = [
        value for value in inputs.values() if isinstance(value, torch.Tensor) and value.dim()
    ]
    if not tensors:
        raise ValueError("The inputs contain no tensor. Pass what generate() accepts.")
    return int((first or tensors)[0].shape[0])


def prompt_of(inputs: Mapping[str, Any]) -> int:
    """How many tokens the prompt has; 0 where it is not made of tokens."""
    tokens = inputs.get("input_ids")
    is_prompt = isinstance(tokens, torch.Tensor) and tokens.dim() == 2
    return int(tokens.shape[1]) if is_prompt else 0  # type: ignore[union-attr]


def with_batch(inputs: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """The inputs with another number of rows, which repeat those that are there."""
    before = batch_of(inputs)

    def resize(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.dim() or value.shape[0] % before:
            return value
        number = value.shape[0] // before
        chosen = [row % before for row in range(rows)]
        return torch.cat([value[row * number : (row + 1) * number] for row in chosen])

    return {name: resize(value) for name, value in inputs.items()}


def with_prompt(inputs: Mapping[str, Any], tokens: int) -> dict[str, Any]:
    """The inputs with a prompt of another length: its last token repeated, or its end cut off."""
    before = prompt_of(inputs)

    def resize(name: str, value: Any) -> Any:
        fits = isinstance(value, torch.Tensor) and value.dim() == 2 and value.shape[1] == before
        if name not in _OF_TOKENS or not fits or not before:
            return value
        more = value[:, -1:].expand(-1, max(tokens - before, 0))
        return torch.cat([value, more], dim=1)[:, :tokens].contiguous()

    return {name: resize(name, value) for name, value in inputs.items()}


def _pad_row(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with one row padded on its left.

    `generate()` drops a mask of ones, and a program without a mask takes no padded prompt.
    """
    mask, tokens = inputs.get(_MASK), inputs.get("input_ids")
    if not isinstance(mask, torch.Tensor) or not isinstance(tokens, torch.Tensor):
        return dict(inputs)
    if mask.shape != tokens.shape or mask.dim() != 2 or not bool((mask == 1).all()):
        return dict(inputs)
    changed = mask.clone()
    changed[0, 0] = 0
    return {**inputs, _MASK: changed}
