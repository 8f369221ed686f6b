"""Memory that nobody wrote, as of `torch.empty`: its values are of no contract.

Eager differs from itself there. Where a program has such an op, calls of it and of its model fill
the memory with one value, so that what is computed from it is the same in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch

from export_engine.defects import log_internal_error
from export_engine.process import undone
from export_engine.torch_internals import fill_memory, pytree

_EMPTY = (
    *("aten.empty.", "aten.empty_like.", "aten.empty_strided.", "aten.empty_permuted."),
    *("aten.new_empty.", "aten.new_empty_strided.", "aten.resize"),
)
_HIGH, _LOW = 1, 0
_FILLS: ContextVar[int | None] = ContextVar("fills", default=None)
"""With which values calls fill what they would leave unwritten; None where they do not."""


@undone
def memory_filled_in_calls(ops: Iterable[str]) -> Iterator[None]:
    """Calls inside fill the memory that a program leaves unwritten, if one of its ops may."""
    token = _FILLS.set(_HIGH if any(op.startswith(_EMPTY) for op in ops) else None)
    try:
        yield
    finally:
        _FILLS.reset(token)


def fill_new_memory() -> AbstractContextManager[None]:
    """The context of a call: none, or ops that fill the memory that they create."""
    level = _FILLS.get()
    return nullcontext() if level is None else fill_memory(level)


def find_unwritten(call: Callable[[], Any]) -> list[torch.Tensor | None]:
    """Per tensor among the results of a call, which elements are of memory that nobody wrote.

    None for a tensor that is written throughout. The list is empty where no op leaves any, or where
    it cannot be told.
    """
    if _FILLS.get() is None:
        return []
    try:
        high, low = _run_filled(_HIGH, call), _run_filled(_LOW, call)
    except Exception as error:  # noqa: BLE001 - the model raises what it likes; then nothing is known
        log_internal_error(error, "finding uninitialized memory")
        return []
    return [_apart(*pair) for pair in zip(high, low, strict=True)]


def without_unwritten(result: Any, masks: list[torch.Tensor | None]) -> Any:
    """Results with 0 in place of the elements that nobody wrote."""
    leaves = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    if len(leaves) != len(masks) or all(mask is None for mask in masks):
        return result
    tensors = iter(masks)

    def blank(value: Any) -> Any:
        mask = next(tensors, None) if isinstance(value, torch.Tensor) else None
        if mask is None or mask.shape != value.shape:
            return value
        return torch.where(mask.to(value.device), torch.zeros_like(value), value)

    return pytree.tree_map(blank, result)


def describe_unwritten(masks: list[torch.Tensor | None]) -> str:
    """A sentence on what is not compared; empty if all is."""
    named = [_name_output(number, mask) for number, mask in enumerate(masks) if mask is not None]
    return f"Uninitialized memory, not compared: {', '.join(named)}." if named else ""


def _name_output(number: int, mask: torch.Tensor) -> str:
    """`output 0`, or `20 of 120 elements of output 1`."""
    wrong = int(mask.sum())
    part = "" if wrong == mask.numel() else f"{wrong:,} of {mask.numel():,} elements of "
    return f"{part}output {number}"


def _run_filled(level: int, call: Callable[[], Any]) -> list[torch.Tensor]:
    """The tensors among the results of a call."""
    token = _FILLS.set(level)
    try:
        with fill_new_memory():
            leaves = pytree.tree_leaves(call())
    finally:
        _FILLS.reset(token)
    return [leaf.detach().clone() for leaf in leaves if isinstance(leaf, torch.Tensor)]


def _apart(high: torch.Tensor, low: torch.Tensor) -> torch.Tensor | None:
    if high.shape != low.shape or high.layout is not torch.strided:
        return None
    apart = high != low
    if high.is_floating_point() or high.is_complex():
        apart &= ~(high.isnan() & low.isnan())
    return apart.cpu() if bool(apart.any()) else None
