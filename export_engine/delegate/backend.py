"""The DelegationBackend: what takes ops of a program. Others add theirs by an entry point.

[project.entry-points."export_explorer.delegation_backends"]
mine = "my_package:MyDelegationBackend"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch

from export_engine.record import BackendRule, CountedNodes, ReasonBy


class Verdict(NamedTuple):
    """Whether a backend takes an op of a program, and why not."""

    is_taken: bool | None
    """None where it does not say."""
    reason: str = ""
    by: ReasonBy = ""
    rule: BackendRule | None = None


@dataclass(frozen=True, kw_only=True)
class Lowered:
    """A program as a backend lowered it."""

    program: torch.export.ExportedProgram | None
    """Its graph, each partition a nested graph; None where the backend gives none."""
    partitions: tuple[str, ...] = ()
    """Names of the nested graphs that are partitions."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """Per op outside, by the lowered node's name."""
    refused_before: Mapping[str, Verdict] = field(default_factory=dict)
    """Per op of the program: of those that were refused and then decomposed."""
    placements: tuple[Placement, ...] = ()
    """For a backend without a graph of torch's: its ops, each with what it was made of."""
    counted: CountedNodes | None = None
    ready: Any = None
    """The program that ExecuTorch's runtime loads, to be measured; None if there is none."""
    kernels: Mapping[str, str] = field(default_factory=dict)
    """Per node outside that the runtime runs: the kernel that it needs."""
    version: str = ""
    notes: tuple[str, ...] = ()


class LoweringError(RuntimeError):
    """A backend fails on a program as a whole, at one of its ops."""

    def __init__(self, op: str, told: str) -> None:
        """Make one.

        Args:
            op: the program's node.
            told: the backend's own error.
        """
        super().__init__(told)
        self.op = op


class Placement(NamedTuple):
    """An op of a backend that has no graph of torch's."""

    name: str
    op: str
    origin: str
    """The op of the program; empty where it is not known."""
    where: str
    """The device or provider; empty where none takes it."""


@runtime_checkable
class DelegationBackend(Protocol):
    """A backend that accepts or leaves ops of a program.

    Three more members help fixes, where it has them: `rules()`, the names of the ops that it has a
    rule for, `add.Tensor`; `passes`, ProgramRewrites of its own; and `plans_memory`, whether its
    runtime plans memory for each size's upper bound, and for the example's size without one.
    """

    name: str
    """As in `ex.delegate("xnnpack")`."""
    title: str

    def missing(self) -> str | None:
        """Why it cannot be asked here, as a sentence; None if it can. It is quick."""

    def lower(self, program: torch.export.ExportedProgram) -> Lowered:
        """Lowers a copy of the program. An exception fails only this delegation."""

    def can_take(self, program: torch.export.ExportedProgram) -> Mapping[str, Verdict]:
        """Per op of the program's main graph, by name: whether it would be taken.

        Nothing is compiled and nothing runs.
        """


Options = Mapping[str, Any]
