"""Which ops torch.onnx converts, by themselves or by what it decomposes them to."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.operators import OpOverload


def onnx_converts(target: OpOverload) -> bool:
    """Whether torch.onnx has a converter for an op of a program that it decomposed."""
    registry = _registry()
    return registry is not None and bool(registry.is_registered(target))


def decompose_for_onnx(
    program: torch.export.ExportedProgram,
) -> torch.export.ExportedProgram | None:
    """A program as torch.onnx decomposes it; None where this torch does not say."""
    registry = _registry()
    if registry is None or not torch_has.ONNX_DECOMPOSED:
        return None
    decomposed = torch_has.ONNX_DECOMPOSED.value(program, registry)
    assert isinstance(decomposed, torch.export.ExportedProgram)
    return decomposed


@lru_cache(maxsize=1)
def _registry() -> Any | None:
    if not torch_has.ONNX_CONVERTERS:
        return None
    return torch_has.ONNX_CONVERTERS.value.from_torchlib()
