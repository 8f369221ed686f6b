"""Runs on another machine: a program is sent as the bytes of a `.pt2`, and rows come back.

`pack_program` is called here, `run_packed` there. It needs Export Explorer and torch, and no
notebook.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from export_engine.archive import load, save
from export_engine.attempt import Exported, Request
from export_engine.describe import describe
from export_engine.record import Record, RunRow
from export_engine.run.backend_registry import backends, missing_for
from export_engine.run.eager_baseline import Bench, to_cpu
from export_engine.run.run_inputs import Call, Inputs, Sizes, calls_of
from export_engine.run.run_row import run_one, unavailable
from export_engine.run.torch_devices import full_name, missing_device
from export_engine.verify import examine


@dataclass(frozen=True)
class Parcel:
    """What is sent."""

    archive: bytes
    """A `.pt2` file."""
    calls: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...]
    """Per call: what to call its inputs, and its arguments, on the CPU."""


def pack_program(exported: Exported, record: Record, inputs: Inputs, sizes: Sizes) -> Parcel:
    """A program and its inputs, packed for another machine.

    Raises:
        ValueError: there is no such input or size, or torch cannot save the program.
    """
    with examine(exported, record, 0) as subject:
        calls = tuple(_travelling(call) for call in calls_of(subject, inputs, sizes))
    with tempfile.TemporaryDirectory() as folder:
        file = save(exported, record, Path(folder) / "program.pt2")
        return Parcel(file.read_bytes(), calls)


def _travelling(call: Call) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    request = call.make()
    args, kwargs = to_cpu((tuple(request.args), dict(request.kwargs)))
    return call.label, args, kwargs


def run_packed(parcel: Parcel, number: int, device: str, backend: str) -> RunRow:
    """Runs one call of a parcel. There is no eager model: the program itself is held against.

    Args:
        parcel: the program and its calls.
        number: which call.
        device: where, on this machine.
        backend: by its name.
    """
    label, args, kwargs = parcel.calls[number]
    device, chosen = full_name(device), backends().get(backend)
    if chosen is None:
        raise ValueError(f"This machine has no backend {backend!r}.")
    lacking = missing_device(device) or missing_for(chosen, device)
    if lacking:
        return unavailable(chosen, device, label, lacking)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "program.pt2"
        file.write_bytes(parcel.archive)
        exported = load(file)
        with examine(exported, describe(exported), 0) as subject:
            request = Request(target=subject.module, args=args, kwargs=kwargs)
            return run_one(
                Bench(subject, Call(label, lambda: request), device), chosen, Path(folder)
            )
