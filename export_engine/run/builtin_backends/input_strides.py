"""Inputs with the strides that a program was traced with.

AOTInductor compiles these into its code and does not look at those of a call: of the same tensor in
another memory layout it reads the wrong elements, and says nothing. A cache that prefill gives has
often another layout than one that decode gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.export import ExportedProgram

from export_engine.torch_internals import flat_leaves, pytree, size_hint


class InputStrides:
    """The order in which the dims of each input lie in memory."""

    def __init__(self, program: ExportedProgram) -> None:
        """Reads what the program was traced with, so that a call only compares numbers.

        Args:
            program: an exported program.
        """
        self._program = program
        traced = {
            node.name: node.meta.get("val")
            for node in program.graph.nodes
            if node.op == "placeholder"
        }
        inputs = program.graph_signature.user_inputs
        self._orders = [self._find_traced_order(traced.get(str(name))) for name in inputs]
        """Strides of each leaf of a call."""

    def given(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any], int]:
        """A call as the code reads it, and how many of its tensors were copied for that.

        An input that was traced with gaps, or with elements that share memory, is unchanged.
        """
        laid: dict[int, torch.Tensor] = {}
        leaves = flat_leaves(self._program, args, kwargs)
        for value, order in zip(leaves, self._orders, strict=True):
            if isinstance(value, torch.Tensor) and order is not None and value.dim() == len(order):
                wanted = _strides(value.shape, order)
                if not _is_same(value, wanted):
                    copy = torch.empty_strided(
                        value.shape, wanted, dtype=value.dtype, device=value.device
                    )
                    laid[id(value)] = copy.copy_(value)
        if not laid:
            return args, dict(kwargs), 0
        result = pytree.tree_map(lambda each: laid.get(id(each), each), (args, dict(kwargs)))
        return *result, len(laid)

    def _find_traced_order(self, value: Any) -> tuple[int, ...] | None:
        if not isinstance(value, torch.Tensor):
            return None
        return _order(self._numbers(value.shape), self._numbers(value.stride()))

    def _numbers(self, sizes: Any) -> list[int | None]:
        return [size_hint(self._program, size) for size in sizes]


def _order(sizes: list[int | None], strides: list[int | None]) -> tuple[int, ...] | None:
    """The dims from the outermost to the innermost; None for a tensor that is not dense."""
    if None in sizes or None in strides:
        return None
    pairs = [(stride or 0, size or 0) for stride, size in zip(strides, sizes, strict=True)]
    order = sorted(range(len(pairs)), key=lambda dim: (-pairs[dim][0], -pairs[dim][1], dim))
    wanted = _strides([size for _, size in pairs], tuple(order))
    dense = all(
        size <= 1 or stride == own for (stride, size), own in zip(pairs, wanted, strict=True)
    )
    return tuple(order) if dense else None


def _strides(sizes: Any, order: tuple[int, ...]) -> list[int]:
    """Strides of a dense tensor whose dims lie in an order."""
    steps, step = [0] * len(order), 1
    for dim in reversed(order):
        steps[dim] = step
        step *= max(int(sizes[dim]), 1)
    return steps


def _is_same(value: torch.Tensor, wanted: list[int]) -> bool:
    pairs = zip(value.stride(), wanted, value.shape, strict=True)
    return not value.numel() or all(size <= 1 or one == other for one, other, size in pairs)
