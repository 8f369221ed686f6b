"""The weights that a program in memory holds, as the set compares them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import torch

from export_engine.archive import HeldWeight
from export_engine.defects import passed_over


def weights_of(program: torch.export.ExportedProgram) -> dict[str, HeldWeight]:
    """The parameters, buffers and constant tensors of a program, by name. Nothing is copied yet."""
    held = {**program.state_dict, **program.constants}
    return {name: _held(value) for name, value in held.items() if isinstance(value, torch.Tensor)}


def _held(value: torch.Tensor) -> HeldWeight:
    kind = f"{value.dtype} {list(value.shape)}"
    return HeldWeight(_place(value), _content(value), value.numel() * value.element_size(), kind)


def _place(value: torch.Tensor) -> str:
    """What tells its memory from other memory; empty where that cannot be known."""
    try:
        start = value.untyped_storage().data_ptr()
    except Exception as error:  # noqa: BLE001 - a subclass of the user's may refuse anything
        passed_over(error, "looking for the memory of a weight")
        return ""
    if not start:
        return ""
    where = value.storage_offset(), tuple(value.shape), tuple(value.stride())
    return f"{value.device} {start} {value.dtype} {where}"


def _content(value: torch.Tensor) -> Callable[[], str]:
    known: list[str] = []

    def digest() -> str:
        if not known:
            known.append(_digest(value))
        return known[0]

    return digest


def _digest(value: Any) -> str:
    try:
        whole = value.detach().cpu().contiguous().reshape(-1)
        return hashlib.blake2b(whole.view(torch.uint8).numpy().tobytes()).hexdigest()
    except Exception as error:  # noqa: BLE001 - a subclass, a sparse tensor: then nothing is equal to it
        passed_over(error, "reading a weight")
        return f"unknown {id(value)}"
