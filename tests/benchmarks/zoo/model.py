"""What a benchmark has to know of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and keyword arguments."""


class Model(NamedTuple):
    """A model, and how a user would call it."""

    name: str
    package: str
    build: Callable[[], torch.nn.Module]
    """Makes it, in eval mode."""
    call: Callable[..., Call]
    """Makes the arguments for sizes given by name."""
    sizes: Mapping[str, int]
    """The example's sizes."""
    shapes: str
    """The natural dims, in the short language."""


def own(
    name: str,
    build: Callable[[], torch.nn.Module],
    call: Callable[..., Call],
    shapes: str,
    **sizes: int,
) -> Model:
    """A model that is written here, or of torch's own layers."""
    return Model(name, "torch", lambda: build().eval(), call, sizes, shapes)


def ids(*shape: int, vocabulary: int = 90) -> torch.Tensor:
    """Token ids."""
    return torch.randint(3, vocabulary, shape)
