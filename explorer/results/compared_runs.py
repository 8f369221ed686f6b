"""Compares a run of a session's program with another, op by op: `ex.compare()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from explorer.session.session import FixError, Session
from export_engine.record import OpPlace

if TYPE_CHECKING:
    import torch

    from export_engine.attempt import Exported, Request
    from export_engine.progress import Progress
    from export_engine.run import Inputs
    from export_engine.values import Compared, PairError, RunOf

Run: TypeAlias = "str | torch.dtype | torch.export.ExportedProgram | HasSession"
"""The reference for a run of a program: `eager`, `decomposed` or a decomposition table,
`original`, a device, a dtype or a backend by its name, another program, or an Exploration."""

_MOST = 12


class HasSession(Protocol):
    """An Exploration, as this module, which it imports, knows it."""

    session: Session


class TensorPair(NamedTuple):
    """The output of an op in both runs."""

    one: torch.Tensor
    other: torch.Tensor
    difference: torch.Tensor
    """The first minus the second, in float64."""


class ComparedRuns:
    """Two runs, op by op. `print` it; `first`, `worst`, `modules()`, `tensors("linear")`."""

    def __init__(self, compared: Compared) -> None:
        """Make one.

        Args:
            compared: the two runs.
        """
        self._compared = compared

    @property
    def ok(self) -> bool:
        """Whether no op is off by more than float noise."""
        return self._compared.pairs.agrees

    @property
    def sentence(self) -> str:
        """Where an error starts, and which op is worst."""
        return self._compared.pairs.sentence

    @property
    def first(self) -> str | None:
        """The op where an error starts; None if there is none."""
        faults = self._compared.pairs.faults
        return self._compared.name(faults[0]) if faults else None

    @property
    def worst(self) -> str | None:
        """The op that adds the largest error; None if none adds more than noise."""
        worst = self._compared.pairs.worst
        return self._compared.name(worst) if worst else None

    @property
    def rows(self) -> dict[str, PairError]:
        """The errors of each op that has a match, by name, in the order of execution.

        An op of a nested graph is `true_graph_0.sin`; for a loop's body, this is its worst
        iteration.
        """
        name = self._compared.name
        return {name(OpPlace(row.graph, row.node)): row for row in self._compared.rows}

    @property
    def left_out(self) -> tuple[str, ...]:
        """Ops whose inside was not compared, and why."""
        return tuple(self._compared.pairs.left_out)

    @property
    def out_of_range(self) -> dict[str, tuple[int, int]]:
        """Ops that leave the range of their dtype: how many elements overflow and underflow."""
        return {
            name: (row.overflow, row.underflow)
            for name, row in self.rows.items()
            if row.overflow or row.underflow
        }

    def modules(self) -> dict[str, float]:
        """The largest error that an op of each module adds, the worst module first."""
        return self._compared.modules()

    def tensors(self, op: str) -> TensorPair:
        """The output of an op in both runs, and the difference; both programs run again.

        Raises:
            KeyError: there is no such op, or it has no match.
        """
        rows = self.rows
        if op not in rows:
            raise KeyError(f"{op} has no matching op. Ops that have one: {', '.join(rows)[:200]}")
        one, other = self._compared.tensors(rows[op].node, rows[op].graph)
        return TensorPair(one, other, one.double() - other.double())

    def __repr__(self) -> str:
        pairs = self._compared.pairs
        lines = [
            f"{pairs.one} against {pairs.other}, {pairs.device}, {pairs.inputs}",
            pairs.sentence,
        ]
        lines.append(f"  {'op':<30}{'own':>10}{'relative':>10}{'absolute':>10}{'SQNR':>9}")
        rows = self.rows
        ranked = sorted(rows, key=lambda name: -rows[name].own.relative)[:_MOST]
        for name in (text for text in rows if text in ranked):
            row = rows[name]
            lines.append(
                f"{'✗' if row.beyond else ' '} {name[:29]:<30}{row.own.relative:>10.2g}"
                f"{row.error.relative:>10.2g}{row.error.absolute:>10.2g}{row.error.sqnr:>6.0f} dB"
            )
        if len(rows) > len(ranked):
            lines.append(f"  {len(rows) - len(ranked):,} more ops with smaller errors")
        return "\n".join([*lines, *self.left_out])


def compare_values(
    session: Session,
    number: int,
    other: Run = "eager",
    inputs: Inputs = None,
    device: str = "cpu",
    progress: Callable[[Progress], None] | None = None,
) -> ComparedRuns:
    """Runs the program of an attempt and another one, and adds the differences to its Record.

    Raises:
        FixError: there is no such run, or a program raises an error.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.run import full_name
    from export_engine.values import StepFailed, outputs_apart, prepare_call
    from export_engine.values import compare_values as compare_here

    attempt = session.require_exported(number, "compare", progress)
    record = session.entries[number].record
    try:
        request, label = prepare_call(attempt, record, inputs)
        one, wanted = _runs(session, number, other, attempt, request, full_name(device))
        compared = compare_here(one, wanted, label, progress)
        if other == "eager" and compared.pairs.agrees and full_name(device) == "cpu":
            apart = outputs_apart(attempt, record, request)
            if apart:
                compared.add_difference(apart)
    except (ValueError, MemoryError, StepFailed) as error:
        raise FixError(str(error)) from error
    session.keep(number, compared=compared)
    return ComparedRuns(compared)


def _runs(
    session: Session, number: int, other: Run, attempt: Exported, request: Request, device: str
) -> tuple[RunOf, RunOf]:
    """The run in question, and the one that it is held against."""
    from export_engine.run import backends, devices, full_name
    from export_engine.values import RunOf, backend_run, dtype_named, eager_run, run_in_dtype

    record = session.entries[number].record
    plain = RunOf("program", attempt, record, request, device)
    dtype = dtype_named(other)
    if dtype is not None:
        return run_in_dtype(attempt, record, request, device, dtype), plain
    if not isinstance(other, str):
        return plain, _run_of_other(other, request, device)
    if other == "eager":
        return plain, eager_run(attempt, request, device)
    if other == "original":
        parent = session.entries[number].parent
        if parent < 0 or attempt.level is None:
            raise FixError("This program was not decomposed from another one.")
        before = session.require_exported(parent, "compare")
        return plain, RunOf(other, before, session.entries[parent].record, request, device)
    if other.partition(":")[0] in {text.partition(":")[0] for text in devices()}:
        return RunOf(full_name(other), attempt, record, request, full_name(other)), plain
    if other in backends() and other != "program":
        return plain, backend_run(attempt, record, request, device, other)
    return plain, _run_of_decomposed(session, number, other, request, device)


def _run_of_decomposed(
    session: Session, number: int, table: str, request: Request, device: str
) -> RunOf:
    from export_engine.values import RunOf

    current = session.current
    decomposed = session.decompose(number, "core" if table == "decomposed" else table)
    session.use(current)
    after = session.require_exported(decomposed, "compare")
    return RunOf("decomposed", after, session.entries[decomposed].record, request, device)


def _run_of_other(other: Run, request: Request, device: str) -> RunOf:
    """Another result, or a bare ExportedProgram."""
    from torch.export import ExportedProgram

    from export_engine.attempt import Exported
    from export_engine.describe import describe
    from export_engine.trace import Recording
    from export_engine.values import RunOf

    session = getattr(other, "session", None)  # an Exploration's, which imports this module
    if isinstance(session, Session):
        attempt = session.require_exported(session.current, "compare")
        record = session.entry.record
        return RunOf(record.title or "the other", attempt, record, request, device)
    if isinstance(other, ExportedProgram):
        exported = Exported(request=None, recording=Recording(), program=other, title="the other")
        return RunOf("the other", exported, describe(exported), request, device)
    raise FixError(
        f"A {type(other).__name__} is not a run to compare with. Pass 'eager', 'decomposed', a "
        "dtype, a device, a backend, another result or an ExportedProgram."
    )
