"""The devices that torch reports, and the device of a program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

_KINDS = ("cpu", "cuda", "mps", "xpu")


def devices() -> list[str]:
    """Devices here, `cpu` first: `cuda:0`, `mps`, `xpu:0`."""
    texts = ["cpu"]
    texts += [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    texts += ["mps"] if torch.backends.mps.is_available() else []
    return texts + [f"xpu:{number}" for number in range(torch.xpu.device_count())]


def full_name(device: str) -> str:
    """A device with its number: `cuda:0` for `cuda`.

    Raises:
        ValueError: torch has no such device.
    """
    kind, colon, number = device.strip().partition(":")
    if kind not in _KINDS or (colon and not number.isdecimal()):
        raise ValueError(f"{device!r} is not a device. Known kinds: cpu, cuda, cuda:1, mps, xpu.")
    if kind in ("cuda", "xpu"):
        return f"{kind}:{number or 0}"
    return kind


def missing_device(device: str) -> str | None:
    """That torch does not have a device, as a sentence; None if it has it."""
    here = devices()
    if device in here:
        return None
    return f"There is no {device} here: torch {torch.__version__} reports {', '.join(here)}."


def present_device(device: str) -> str:
    """A device with its number, where torch has it.

    Raises:
        ValueError: torch has no such device, or this machine has none.
    """
    device = full_name(device)
    lacking = missing_device(device)
    if lacking:
        raise ValueError(lacking)
    return device


def home_of(program: torch.export.ExportedProgram, inputs: list[Any]) -> str:
    """The device of most of a program's tensors; `cpu` if it has none."""
    counts: dict[str, int] = {}
    for value in _tensors(program, inputs):
        name = str(value.device)
        counts[name] = counts.get(name, 0) + 1
    return full_name(max(counts, key=lambda name: counts[name])) if counts else "cpu"


def _tensors(program: torch.export.ExportedProgram, inputs: list[Any]) -> Iterator[torch.Tensor]:
    for value in (*program.state_dict.values(), *program.constants.values(), *inputs):
        if isinstance(value, torch.Tensor):
            yield value


def synchronize(device: str) -> None:
    """Synchronizes a device."""
    kind = device.partition(":")[0]
    if kind == "cuda":
        torch.cuda.synchronize(device)
    elif kind == "mps":
        torch.mps.synchronize()
    elif kind == "xpu":
        torch.xpu.synchronize(device)
