"""The Attempt: one run of a Request, whether Exported, here, or Failed, in `failed.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from export_engine.attempt.agreement import Agreement, Trial, Verdict
from export_engine.attempt.decomposition import Level
from export_engine.attempt.request import Request
from export_engine.record import Record
from export_engine.trace import Recording

NO_MODEL = "The program was opened without its eager model."
NO_CALL = "The program was opened without the call that made it. Export the model here."


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """The common part of Exported and Failed."""

    request: Request | None
    """None for a program that was loaded from a file, or that the user had already."""
    recording: Recording
    seconds: float = 0.0
    """Wall-clock time that torch took."""
    warnings: list[str] = field(default_factory=list)
    """Warnings and log messages while tracing, each once, in order."""
    printed: str = ""
    """The model's output while tracing; for a failure, its stdout."""
    title: str = ""
    given: str = ""
    """For a program that the user had already, its kind: `ExportedProgram`, `GraphModule`."""
    cells: Mapping[str, str] = field(default_factory=dict)
    """Python's file name of each notebook cell where such a program is, and the name to show."""
    named_by: Request | None = None
    """For a program that a backend lowered: the request whose cells and sizes have names."""

    @property
    def mode(self) -> str:
        """`strict`, `non-strict`; without a request, `given` or `loaded`."""
        if self.request is not None:
            return self.request.mode
        return "given" if self.given else "loaded"


@dataclass(frozen=True, kw_only=True, repr=False)
class Exported(Attempt):
    """An attempt that gave a program."""

    program: torch.export.ExportedProgram
    agreement: Agreement | None = None
    """How it compares with eager at other sizes, if compared."""
    level: Level | None = None
    """For a decomposed program, how it came from the original."""
    kept: Record | None = None
    """For a program from a file, the Record saved with it."""

    @property
    def verdict(self) -> Verdict:
        """That of its agreement; `not checked` without one."""
        return self.agreement.verdict if self.agreement is not None else "not checked"

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Those of its agreement; none without one."""
        return self.agreement.trials if self.agreement is not None else ()

    @property
    def rejects_example(self) -> bool:
        """Whether the program was run on the example, and rejected it."""
        return any(trial.outcome == "refused" and not trial.sizes for trial in self.trials)

    @property
    def agrees_elsewhere(self) -> bool:
        """Whether it agrees with eager, and was compared at other sizes than the example's."""
        other = any(trial.sizes and trial.outcome == "agrees" for trial in self.trials)
        return self.verdict == "agrees" and other

    def __repr__(self) -> str:
        return f"Exported({self.title}, {self.mode}, {len(self.program.graph.nodes)} nodes)"
