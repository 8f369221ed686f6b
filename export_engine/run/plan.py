"""Runs a program on devices, by backends, and compares: Exported → one RunRow each.

A run that fails is a row that says why; the others go on. The user's model, inputs and random
numbers are as before when it ends, also when it is interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from export_engine.attempt import Exported
from export_engine.process import raise_if_interrupted
from export_engine.progress import Progress
from export_engine.record import Record, RunRow
from export_engine.run.backend import Backend, Job, Ready
from export_engine.run.backend_registry import backends, choose_backends, missing_for
from export_engine.run.eager_baseline import Bench
from export_engine.run.run_inputs import Inputs, Sizes, calls_of
from export_engine.run.run_row import run_one, unavailable
from export_engine.run.torch_devices import devices, full_name, missing_device
from export_engine.verify import examine

__all__ = [
    "Backend",
    "Job",
    "Plan",
    "Ready",
    "backends",
    "devices",
    "run",
]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to run."""

    devices: Sequence[str] = ("cpu",)
    """`cpu`, `cuda`, `cuda:1`, `mps`, `xpu`. An unknown one makes rows that report it."""
    backends: str | Sequence[str] | None = None
    """Names; or `all`, those that can run here. None: eager, where there is a model, and the
    program; both start at once."""
    inputs: Inputs = None
    sizes: Sizes = None
    folder: Path | None = None
    """Where compiled programs are put, each in a folder of its own. None: where they are deleted
    when this process ends."""


class _Step(NamedTuple):
    device: str
    backend: Backend


def run(
    exported: Exported,
    record: Record,
    plan: Plan,
    keep: Callable[[RunRow], None],
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Runs all that a plan asks for.

    Args:
        exported: whose program; it is run as it is, and moved copies of it elsewhere.
        record: the same, described.
        plan: on which devices, by which backends, with which inputs.
        keep: called with each row once it is there; an interrupt loses none of them.
        progress: called before each run.

    Raises:
        ValueError: the plan names a device, a backend, an input or a size that cannot be.
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    eager = exported.request is not None
    steps = [
        _Step(device, backend)
        for device in dict.fromkeys(map(full_name, plan.devices))
        for backend in choose_backends(plan.backends, device, eager)
    ]
    with examine(exported, record, 0) as subject:
        calls = calls_of(subject, plan.inputs, plan.sizes)
        total = len(steps) * len(calls)
        done = 0
        for call in calls:
            benches: dict[str, Bench] = {}
            for device, backend in steps:
                raise_if_interrupted()
                if progress:
                    progress(Progress(done, total, f"{backend.title} on {device}", "run"))
                done += 1
                lacking = missing_device(device) or missing_for(backend, device)
                if not lacking:
                    lacking = subject.without_values
                if lacking:
                    keep(unavailable(backend, device, call.label, lacking))
                    continue
                if device not in benches:
                    benches[device] = Bench(subject, call, device)
                keep(
                    run_one(
                        benches[device], backend, plan.folder or Path(_make_temporary_folder().name)
                    )
                )


@cache
def _make_temporary_folder() -> TemporaryDirectory[str]:
    """A folder for compiled programs, deleted when this process ends."""
    return TemporaryDirectory(prefix="export-explorer-", ignore_cleanup_errors=True)
