"""Which ops torch.onnx converts, by itself or after it has decomposed them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.operators import OpOverload


def onnx_converts(target: OpOverload) -> bool | None:
    """Whether torch.onnx converts an op; None where this torch does not say."""
    registry = _registry()
    if registry is None:
        return None
    return bool(registry.is_registered(target) or target in _decompositions())


@lru_cache(maxsize=1)
def _registry() -> Any | None:
    if not torch_has.ONNX_CONVERTERS:
        return None
    return torch_has.ONNX_CONVERTERS.value.from_torchlib()


@lru_cache(maxsize=1)
def _decompositions() -> frozenset[Any]:
    """The ops that torch.onnx decomposes, by torch's default table."""
    return frozenset(torch.export.default_decompositions())
