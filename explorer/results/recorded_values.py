"""Records a run: statistics of every op, and tensors on request: `ex.record_values()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from explorer.results.op_names import nearest, op_places
from explorer.session.session import FixError, Session
from explorer.text.run_text import amount, duration
from export_engine.record import OPS, Record, Values, floats

if TYPE_CHECKING:
    import torch

    from export_engine.progress import Progress
    from export_engine.record import Record, Values
    from export_engine.values import NonFinite


class OpStatistics(NamedTuple):
    """The output of one op; see `export_engine.record.OpValues` for each."""

    name: str
    runs: int
    numel: int
    minimum: float
    maximum: float
    mean: float
    std: float
    norm: float
    zeros: float
    saturated: float
    nans: int
    infs: int
    histogram: tuple[int, ...]


class WatchedRun:
    """A run of a program, op by op. `print` it; `run["linear_3"]`, `run.tensor("linear_3")`."""

    def __init__(self, session: Session, number: int) -> None:
        """Make one.

        Args:
            session: whose attempt.
            number: the attempt's; it was watched.
        """
        self._session = session
        self._number = number
        self._watched = session.entries[number].watched
        assert self._watched is not None

    @property
    def values(self) -> Values:
        """The statistics as columns, per node of each graph."""
        assert self._watched is not None
        return self._watched.values

    @property
    def nonfinite(self) -> tuple[NonFinite, ...]:
        """Ops that produce a NaN or an infinity from finite inputs, in order."""
        from export_engine.values import nonfinite_ops

        return tuple(nonfinite_ops(self._record, self.values))

    def tensor(self, op: str) -> torch.Tensor:
        """The output of an op, as a copy on the CPU.

        The program runs again, up to that op. After a
        run with `spill`, it is read from disk.

        Args:
            op: its name, `linear_3`; of a nested graph, `true_graph_0.sin`.

        Raises:
            KeyError: there is no such op; the nearest are named.
            FixError: it returns no tensor, or the program cannot be run.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.values import StepFailed

        graph, node = self._place(op)
        exported = self._session.require_exported(self._number, "run")
        assert self._watched is not None
        try:
            return self._watched.tensor(exported, node, graph)
        except (LookupError, StepFailed) as error:
            raise FixError(f"There is no tensor of {op}: {error}") from error

    def why(self, op: str | None = None) -> str:
        """The cause of a NaN or an infinity: the element, its inputs there, and your line.

        Args:
            op: which op; by default, the first of `nonfinite`.

        Raises:
            KeyError: there is no such op.
            FixError: it returns no tensor.
        """
        from export_engine.values import explain_nonfinite

        non_finites = {non_finite.name: non_finite for non_finite in self.nonfinite}
        if not non_finites:
            return "Every value is finite."
        if op is not None and op not in non_finites:
            self._place(op)
            return f"{op} produces no NaN or infinity from finite inputs."
        chosen = non_finites[op] if op is not None else next(iter(non_finites.values()))
        return explain_nonfinite(self._record, chosen, self.tensor)

    def __getitem__(self, op: str) -> OpStatistics:
        from export_engine.record import BINS, floats

        graph, node = self._place(op)
        first = next(
            (statistics for statistics in self.values.graphs if statistics.graph == graph), None
        )
        if first is None or not first.runs[node]:
            raise KeyError(f"{op} did not run, or returns no tensor.")
        return OpStatistics(
            name=op,
            runs=first.runs[node],
            numel=first.count[node],
            minimum=floats(first.minimum)[node],
            maximum=floats(first.maximum)[node],
            mean=floats(first.mean)[node],
            std=floats(first.std)[node],
            norm=floats(first.norm)[node],
            zeros=floats(first.zeros)[node],
            saturated=floats(first.saturated)[node],
            nans=first.nans[node],
            infs=first.infs[node],
            histogram=tuple(first.histogram[node * BINS : (node + 1) * BINS]),
        )

    def __iter__(self) -> Iterator[OpStatistics]:
        record = self._record
        for statistics in self.values.graphs:
            graph = record.graphs[statistics.graph]
            within = f"{graph.title}." if statistics.graph else ""
            for node, runs in enumerate(statistics.runs):
                if runs:
                    yield self[f"{within}{record.strings[graph.name[node]]}"]

    def __repr__(self) -> str:
        lines = value_lines(self._record, self.values)
        spilled = self._watched.spilled if self._watched else None
        if spilled:
            lines.append(
                f"Tensors of {spilled.count:,} ops, {amount(spilled.bytes)}, are in "
                f"{spilled.folder} until the next recorded run, or until Python exits."
            )
        return "\n".join(lines)

    @property
    def _record(self) -> Record:
        return self._session.entries[self._number].record

    def _place(self, op: str) -> tuple[int, int]:
        entries = op_places(self._record)
        if op not in entries:
            raise KeyError(f"There is no op {op!r}.{nearest(op, entries)}")
        return entries[op]


def watch(
    session: Session,
    number: int,
    device: str = "cpu",
    inputs: Any = None,
    sizes: Any = None,
    progress: Callable[[Progress], None] | None = None,
    spill: str | Path | None = None,
) -> WatchedRun:
    """Runs the program of an attempt op by op, and adds the statistics to its Record.

    Raises:
        FixError: it has no program, the program raises an error, or there is no such device,
            input, size or folder.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.values import StepFailed
    from export_engine.values import watch as watch_here

    attempt = session.require_exported(number, "watch", progress)
    record = session.entries[number].record
    try:
        watched = watch_here(attempt, record, device, inputs, sizes, progress, spill)
    except (ValueError, MemoryError, StepFailed) as error:
        raise FixError(str(error)) from error
    session.keep(number, watched=watched)
    return WatchedRun(session, number)


_MOST = 60
_CALL = OPS.index("call_function")


def value_lines(record: Record, values: Values) -> list[str]:
    """A head, then a line per op in the order of execution; those with NaN or inf are marked.

    Ops that ran several times, such as those of a loop, are one line: `sin ×5`.
    """
    lines = [
        f"{duration(values.seconds)} on {values.device}, {values.inputs}; values of ops took "
        f"at most {amount(values.memory)} at one time",
        f"  {'op':<28}{'min':>10}{'max':>10}{'mean':>10}{'std':>10}{'zeros':>7}  NaN, inf",
    ]
    rows: list[str] = []
    for statistics in values.graphs:
        graph = record.graphs[statistics.graph]
        columns = [
            floats(one)
            for one in (statistics.minimum, statistics.maximum, statistics.mean, statistics.std)
        ]
        zeros = floats(statistics.zeros)
        for node, runs in enumerate(statistics.runs):
            if not runs or graph.op[node] != _CALL:
                continue
            name = record.strings[graph.name[node]]
            name = f"{graph.title}.{name}" if statistics.graph else name
            odd = statistics.nans[node] + statistics.infs[node]
            none = odd >= statistics.count[node]  # the numbers are of the finite elements
            numbers = "".join(f"{'–' if none else f'{c[node]:.3g}':>10}" for c in columns)
            told = f"  {statistics.nans[node]:,} NaN, {statistics.infs[node]:,} inf" if odd else ""
            times = f" ×{runs:,}" if runs > 1 else ""
            name = f"{name[: 27 - len(times)]}{times}"
            rows.append(f"{'!' if odd else ' '} {name:<28}{numbers}{zeros[node]:>7.0%}{told}")
    lines += rows[:_MOST]
    if len(rows) > _MOST:
        lines.append(f"  … {len(rows) - _MOST:,} more ops")
    return [*lines, *values.left_out]
