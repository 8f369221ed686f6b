"""The Attempt: one run of a Request, whether Exported, here, or Failed, in `failed.py`."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from export_engine.attempt.agreement import Agreement
from export_engine.attempt.decomposition import Level
from export_engine.attempt.request import Request
from export_engine.record import Record
from export_engine.trace import Recording


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What every attempt has: Exported or Failed."""

    request: Request | None
    """None for a program that was loaded from a file."""
    recording: Recording
    seconds: float = 0.0
    """Wall-clock time that torch took."""
    warnings: list[str] = field(default_factory=list)
    """What was warned of and logged while tracing, each once, in order."""
    printed: str = ""
    """What the model printed while tracing; of a failure, what it printed to stdout."""
    title: str = ""

    @property
    def mode(self) -> str:
        """`strict`, `non-strict`, or `loaded`."""
        return self.request.mode if self.request else "loaded"


@dataclass(frozen=True, kw_only=True)
class Exported(Attempt):
    """An attempt that gave a program."""

    program: torch.export.ExportedProgram
    agreement: Agreement | None = None
    """How it compares with eager at other sizes, where that was looked at."""
    level: Level | None = None
    """How it came from another by decomposition."""
    kept: Record | None = None
    """Of a program from a file: what was known of it when it was saved."""
