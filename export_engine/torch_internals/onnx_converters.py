"""Which ops torch.onnx converts, by itself or after it has decomposed them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from export_engine.torch_internals import private_names as torch_has


def onnx_converts(target: torch._ops.OpOverload) -> bool | None:
    """Whether torch.onnx converts an op; None where this torch does not say."""
    registry = _registry()
    if registry is None:
        return None
    if registry.is_registered(target) or target in _decompositions():
        return True
    return bool(target._can_decompose())


@lru_cache(maxsize=1)
def _registry() -> Any | None:
    if not torch_has.ONNX_CONVERTERS:
        return None
    return torch_has.ONNX_CONVERTERS.value.from_torchlib()


@lru_cache(maxsize=1)
def _decompositions() -> frozenset[Any]:
    """torch.onnx decomposes with this table, and with that of torch's compilers."""
    known = torch.export.default_decompositions()
    return frozenset([*known, *torch._decomp.decomposition_table])
