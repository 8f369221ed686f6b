"""Sizes that are one symbol, said to torch before the model computes with them.

torch.export makes a symbol of each dim, and learns that two are equal where an op needs it. Earlier
results such as `batch * (images // batch)` are then not simplified, and their guards reject
sizes that the model accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from export_engine.attempt import signature_of
from export_engine.process import undone
from export_engine.torch_internals import call_leaves


@undone
def equal_sizes(
    module: torch.nn.Module, symbols: Sequence[Sequence[tuple[str, int]]]
) -> Iterator[None]:
    """While inside, each call of a module checks first that some sizes of its inputs are equal.

    Args:
        module: what is exported.
        symbols: per symbol the paths and dims that have it.
    """

    def enter(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        leaves = dict(call_leaves(signature_of(module), args, kwargs))
        for members in symbols:
            (first, at), *others = members
            for path, dim in others:
                # a guard, which unifies them
                if leaves[path].shape[dim] != leaves[first].shape[at]:
                    raise ValueError(
                        f"{path}.shape[{dim}] differs from {first}.shape[{at}], but both have one "
                        "name."
                    )

    handle = module.register_forward_pre_hook(enter, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()
