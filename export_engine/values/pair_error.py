"""A run that is compared, and the error of one of its ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from export_engine.attempt import Exported, Request
from export_engine.record import Record
from export_engine.values.error import Error
from export_engine.values.steps import Steps


class RunOf(NamedTuple):
    """One of two runs."""

    title: str
    exported: Exported
    record: Record
    request: Request
    device: str = "cpu"
    kind: type[Steps] = Steps
    left_out: tuple[str, ...] = ()
    """Which of its ops have no values, and why; sentences."""


class PairError(NamedTuple):
    """The error of one op."""

    node: int
    """In a graph of the first program."""
    partner: int
    """In the other's."""
    error: Error
    """The error of the run."""
    own: Error
    """The error of the op alone, on the other run's inputs."""
    beyond: bool
    """Whether `own` is more than noise, so that an error enters here."""
    fault: tuple[int, int]
    """Then the op that it enters at, by graph and node: this one, or one before it that has no
    partner."""
    overflow: int
    """Elements that this op made infinite or NaN, and the other did not."""
    underflow: int
    """Elements that this op made 0, and the other did not."""
    graph: int = 0
    """Nodes of the first program."""

    @property
    def place(self) -> tuple[int, int]:
        """The graph and the node."""
        return self.graph, self.node


def worst_turns(rows: Sequence[PairError]) -> list[PairError]:
    """A row for each op, where it first ran."""
    pair_errors: dict[tuple[int, int], PairError] = {}
    for row in rows:
        before = pair_errors.get(row.place)
        pair_errors[row.place] = row if before is None else _worse(before, row)
    return list(pair_errors.values())


def _worse(one: PairError, other: PairError) -> PairError:
    worst = max(one, other, key=lambda row: (row.beyond, row.own.relative))
    return worst._replace(
        error=max(one.error, other.error, key=lambda each: each.relative),
        overflow=one.overflow + other.overflow,
        underflow=one.underflow + other.underflow,
    )
