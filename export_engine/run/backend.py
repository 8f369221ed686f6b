"""The Backend: a way to run a program. Others add theirs by an entry point.

[project.entry-points."export_explorer.backends"]
mine = "my_package:MyBackend"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job: everything in it is on the device, and may be mutated."""

    program: torch.export.ExportedProgram
    model: Callable[..., Any] | None
    """The eager model; None for a program from a file."""
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    device: str
    """`cpu`, `cuda:0`."""
    folder: Path
    """An empty folder for compiled files; it lives as long as its runs."""
    eager_random: bool = False
    """Whether random numbers are to be drawn as eager draws them, so that outputs can be compared.
    Only a `RandomBackend` is asked for it.
    """
    names: Mapping[str, str] = field(default_factory=dict)
    """The user's names of torch's symbols: `batch` for `s77`. A Dim without a name is left out."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A program that is compiled and bound to its inputs."""

    call: Callable[[], Any]
    """Runs it once. This is what is timed; inputs are converted before."""
    result: Callable[[Any], Any] = lambda raw: raw
    """The result of `call` as tensors: eager's result, or its leaves in order."""
    saved: Path | None = None
    """The file, or folder, of the compiled program."""
    note: str = ""
    """Notes on how it was compiled."""
    buffer: Callable[[str], torch.Tensor | None] | None = None
    """Reads a buffer that `call` writes, by its name in the program; None where `call` has none of
    that name. Without it, the program is compiled once more, with its buffers as outputs."""


@runtime_checkable
class Backend(Protocol):
    """One way to run a program."""

    name: str
    """As in `ex.run(backend=...)`: `inductor`."""
    title: str
    """`torch.compile inductor`."""

    def missing(self, device: str) -> str | None:
        """Why it cannot run on a device here, as a sentence; None if it can.

        It is quick and has no large imports.
        """

    def prepare(self, job: Job) -> Ready:
        """Compiles or converts the program. An exception fails only this run."""


@runtime_checkable
class RepeatedBackend(Backend, Protocol):
    """A backend whose compiled program takes other inputs call after call, as generation does."""

    def load(self, job: Job) -> Callable[..., Any]:
        """Compiles or converts the program. What is returned is called as the model is.

        It gives what the model does, in the model's containers. The job's inputs say what sizes and
        types calls have; they are not called with.
        """


@runtime_checkable
class RandomBackend(Backend, Protocol):
    """A backend whose compiled code can draw the random numbers that eager draws."""

    draws_as_eager: bool


WARM = 5
"""Calls of a runtime before those that are measured."""


class RuntimeNode(NamedTuple):
    """A node that a runtime runs, which may be several ops of the program."""

    name: str
    """As the runtime calls it."""
    calls: str
    """Its kernel: `FusedMatMul`."""
    ops: tuple[str, ...]
    """The ops of the program that it computes, by their nodes' names; empty where it tells none."""
    reads: tuple[int, ...]
    """The nodes that it reads, by their place in the list."""
    microseconds: tuple[float, ...]
    """Seconds of each measured call; empty if none was measured."""


@runtime_checkable
class RuntimeBackend(Backend, Protocol):
    """A backend whose runtime tells which nodes it runs, for which ops, and how long they take."""

    def nodes(self, job: Job, calls: int) -> list[RuntimeNode]:
        """The nodes in the order in which they run.

        Args:
            job: what to run.
            calls: how many calls are measured, after some to warm up.
        """


@runtime_checkable
class WatchedBackend(Backend, Protocol):
    """A backend that tells what ops gave, so that it can be compared op by op."""

    def without_values(self) -> str | None:
        """Why it does not here, as a sentence; None where it does. As quick as `missing`."""

    def values(self, job: Job, space: int) -> dict[str, torch.Tensor]:
        """Outputs of the main graph's ops in one run, by their nodes' names.

        An op whose value never exists, since it is part of a larger kernel, is left out.

        Args:
            job: what to run.
            space: bytes of the values of all ops, for what must be set aside before.
        """
