"""Outputs of a program's ops in a backend, by the names of the program's nodes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from export_engine.attempt import Exported, Request
from export_engine.defects import log_internal_error
from export_engine.error_text import error_text
from export_engine.record import Record
from export_engine.run.backend import Backend, WatchedBackend
from export_engine.run.backend_registry import backends, missing_for
from export_engine.run.check_call import Rejected
from export_engine.run.eager_baseline import Bench
from export_engine.run.failure_text import sentence_of
from export_engine.run.measure import check_memory
from export_engine.run.run_inputs import Call
from export_engine.run.torch_devices import missing_device
from export_engine.verify import examine

_COPIES = 3
"""How often the values of all ops are held at one time while they are read."""


def op_values(
    exported: Exported, record: Record, request: Request, where: tuple[str, str], space: int
) -> dict[str, torch.Tensor]:
    """Runs a program by a backend once, and returns what its ops gave, on the CPU.

    Args:
        exported: whose program.
        record: the same, described.
        request: the call.
        where: the backend's name, and the device.
        space: bytes of the values of all ops.

    Raises:
        ValueError: it gives none, cannot run here, or fails.
        MemoryError: they do not fit into memory.
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    name, device = where
    backend = backends()[name]
    lacking = without_values(backend) or missing_device(device) or missing_for(backend, device)
    if lacking or not isinstance(backend, WatchedBackend):
        raise ValueError(lacking)
    check_memory(space * _COPIES)
    with (
        TemporaryDirectory(prefix="export-explorer-") as folder,
        examine(exported, record, 0) as subject,
    ):
        bench = Bench(subject, Call("", lambda: request), device)
        reason = bench.other_inputs or bench.broken_condition
        if reason:
            text = f"{backend.title} was not called, because the program rejects these inputs"
            raise Rejected(f"{text}: {reason}.")
        try:
            return bench.run_seeded(lambda: backend.values(bench.job(Path(folder)), space))  # type: ignore[no-any-return]
        except MemoryError:
            raise
        except Exception as error:
            log_internal_error(error, "reading values of ops from a backend")
            raise ValueError(sentence_of(error, backend.title, device, "compile")) from error


def without_values(backend: Backend) -> str | None:
    """Why a backend does not tell what ops gave, as a sentence; None where it does."""
    if isinstance(backend, WatchedBackend):
        try:
            return backend.without_values()
        except Exception as error:  # noqa: BLE001 - of someone else's package
            log_internal_error(error, "checking whether a backend exposes values")
            return f"{backend.title} cannot tell if it exposes per-op values: {error_text(error)}."
    return (
        f"{backend.title} does not expose per-op values. Compare its outputs: "
        f'.run(backend="{backend.name}").'
    )
