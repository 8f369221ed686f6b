"""Whether a program can be computed: tensors on the meta device, and fake ones, have no values."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from export_engine.attempt import Request
from export_engine.torch_internals import is_fake
from export_engine.traced_sizes import leaf_values


def missing_values(program: torch.export.ExportedProgram, request: Request | None) -> str:
    """Why a program cannot be computed, as a sentence; empty if all its tensors have values.

    Args:
        program: whose weights, buffers and constants are looked at.
        request: the call, whose inputs are; None for those that the program keeps.
    """
    for name, value in _held(program):
        where = _without_values(value)
        if where:
            return f"The model has no weights: `{name}` {where}."
    for path, value in leaf_values(request).items() if request is not None else ():
        where = _without_values(value)
        if where:
            return f"The inputs have no values: `{path}` {where}."
    return ""


def _held(program: torch.export.ExportedProgram) -> Iterator[tuple[str, object]]:
    yield from program.state_dict.items()
    yield from program.constants.items()


def _without_values(value: object) -> str:
    """Where a tensor is that has no values, as a clause; empty for any other value."""
    if not isinstance(value, torch.Tensor):
        return ""
    if is_fake(value):
        return "is a fake tensor"
    return "is on the meta device" if value.is_meta else ""
