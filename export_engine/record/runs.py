"""Runs of a program, and its profile, as the Record has them."""

from __future__ import annotations

from typing import Literal

import msgspec


class RunError(msgspec.Struct, frozen=True):
    """The error of outputs against eager on the same device: the worst element by each measure."""

    absolute: float
    """Largest absolute difference."""
    relative: float
    """Largest difference relative to eager's value, where that is not 0."""
    ulps: float
    """Largest distance in representable floats between eager's value and this one."""


class RunTimes(msgspec.Struct, frozen=True):
    """Seconds: by events on an NVIDIA GPU, elsewhere by a clock around each call.

    Calls under 50 µs are timed in blocks, by `torch.utils.benchmark`.
    """

    median: float
    """Seconds of a warm call."""
    spread: float
    """Between the quartiles of the warm calls."""
    calls: int
    """Warm calls that were timed."""
    first: float
    """The first call after compiling."""
    prepare: float
    """Compiling, saving and loading, before the first call."""


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One backend on one device with one set of inputs."""

    backend: str
    """`inductor`."""
    title: str
    """`torch.compile inductor`."""
    device: str
    """`cpu`, `cuda:0`."""
    inputs: str
    """Which inputs: `batch=2, seq=16`."""
    outcome: Literal["agrees", "differs", "refused", "failed", "unavailable"]
    """`agrees`: with eager, within 4 times the tolerances of `torch.testing.assert_close`, in each
    of `calls` calls, and so does what they write. `refused`: the program rejects these inputs, so
    the backend was not called. `failed`: it did not compile or run. `unavailable`: it cannot run
    here."""
    sentence: str
    """The result in a sentence, or what is missing."""
    detail: str = ""
    """For a failure, the error's own text."""
    error: RunError | None = None
    times: RunTimes | None = None
    memory: int = -1
    """Peak bytes of a warm call above what is held between calls; -1 if unknown."""
    size: int = -1
    """Bytes of the compiled or converted program on disk; -1 without a file."""
    saved: str = ""
    """That file."""
    node: int = -1
    """The first op, in graph 0, whose value differs from eager's; for a run that differs."""
    where: str = ""
    """The engine that it ran on; empty for this process."""
    torch_version: str = ""
    calls: int = 1
    """How many calls in a row were compared: several where the program writes buffers or inputs."""
    lost: list[str] = []
    """Buffers and inputs that the program writes, and this backend does not start from, keep or
    write as eager does."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of each op of the main graph when the program runs op by op."""

    device: str
    inputs: str
    runs: int
    """Medians of so many runs."""
    microseconds: list[float]
    """Per node of graph 0, the time of its kernel with its dispatch; -1 for a node that runs
    nothing."""
    bytes: list[int]
    """Per node, the memory of its outputs that is not an input's; -1 as above."""
    total: float
    """Sum of the times, in microseconds."""
