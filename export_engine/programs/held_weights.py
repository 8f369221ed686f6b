"""The weights that a program in memory holds, as the set compares them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

from export_engine.archive import HeldWeight
from export_engine.defects import log_internal_error
from export_engine.torch_internals import plain_tensors


def weights_of(program: torch.export.ExportedProgram) -> dict[str, HeldWeight]:
    """The parameters, buffers and constant tensors of a program, by name. Nothing is copied yet."""
    held = {**program.state_dict, **program.constants}
    return {name: _held(value) for name, value in held.items() if isinstance(value, torch.Tensor)}


def weights_of_model(target: Callable[..., Any]) -> dict[str, HeldWeight]:
    """The parameters and buffers of a module, by the names that its program has for them.

    Empty for a target that is not a module. Nothing is copied yet.
    """
    if not isinstance(target, torch.nn.Module):
        return {}
    held = {
        **dict(target.named_parameters(remove_duplicate=False)),
        **dict(target.named_buffers(remove_duplicate=False)),
    }
    return {name: _held(value) for name, value in held.items()}


def constants_of(program: torch.export.ExportedProgram) -> dict[str, bytes]:
    """The values of a program's constant tensors, by name, row by row.

    Those without plain values, as of a subclass or on the meta device, are left out.
    """
    result = {}
    for name, value in program.constants.items():
        if isinstance(value, torch.Tensor) and len(_parts(value)) == 1 and _place(value):
            try:
                result[name] = _bytes(value)
            except Exception as error:  # noqa: BLE001 - a subclass of the user's may refuse anything
                log_internal_error(error, "reading a constant")
    return result


def _held(value: torch.Tensor) -> HeldWeight:
    """What is in memory: of a wrapper subclass, as a quantized weight, the tensors in it."""
    parts = _parts(value)
    places = [_place(tensor) for tensor in parts]
    return HeldWeight(
        " + ".join(places) if all(places) else "",
        _content(parts),
        sum(tensor.numel() * tensor.element_size() for tensor in parts),
        " + ".join(f"{tensor.dtype} {list(tensor.shape)}" for tensor in parts),
    )


def _parts(value: torch.Tensor) -> list[torch.Tensor]:
    try:
        return plain_tensors(value) or [value]
    except Exception as error:  # noqa: BLE001 - a subclass of the user's may refuse anything
        log_internal_error(error, "looking into a weight")
        return [value]


def _place(value: torch.Tensor) -> str:
    """A key of a plain tensor's memory; empty if it cannot be known."""
    try:
        start = value.untyped_storage().data_ptr()
    except Exception as error:  # noqa: BLE001 - a subclass of the user's may refuse anything
        log_internal_error(error, "looking for the memory of a weight")
        return ""
    if not start:
        return ""
    where = value.storage_offset(), tuple(value.shape), tuple(value.stride())
    return f"{value.device} {start} {value.dtype} {where}"


def _content(parts: Sequence[torch.Tensor]) -> Callable[[], str]:
    texts: list[str] = []

    def digest() -> str:
        if not texts:
            texts.append(" + ".join(map(_digest, parts)))
        return texts[0]

    return digest


def _digest(value: Any) -> str:
    try:
        return hashlib.blake2b(_bytes(value)).hexdigest()
    except Exception as error:  # noqa: BLE001 - a subclass, a sparse tensor: then nothing is equal to it
        log_internal_error(error, "reading a weight")
        return f"unknown {id(value)}"


def _bytes(value: Any) -> bytes:
    whole = value.detach().cpu().contiguous().reshape(-1)
    values: bytes = whole.view(torch.uint8).numpy().tobytes()
    return values
