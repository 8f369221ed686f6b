"""Watches a run of a session's program: statistics of every op, and tensors when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from explorer.results.op_names import nearest, op_places
from explorer.session.session import FixError, Session
from explorer.text.run_text import amount
from explorer.text.value_text import value_lines

if TYPE_CHECKING:
    import torch

    from export_engine.progress import Progress
    from export_engine.record import Record, Values
    from export_engine.values import NonFinite


class OpStatistics(NamedTuple):
    """What one op gave; see `export_engine.record.OpValues` for each."""

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
        """Ops that make a NaN or an infinity out of finite inputs, the first one first."""
        from export_engine.values import nonfinite_ops

        return tuple(nonfinite_ops(self._record, self.values))

    def tensor(self, op: str) -> torch.Tensor:
        """What an op gave, a copy on the CPU. The program runs again, up to that op.

        Of a run that was watched with `spill`, it is read from disk.

        Args:
            op: its name, `linear_3`; of a nested graph, `true_graph_0.sin`.

        Raises:
            KeyError: there is no such op; the nearest are named.
            FixError: it gives no tensor, or the program cannot be run.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.values import StepFailed

        graph, node = self._place(op)
        exported = self._session.exported(self._number, "run")
        assert self._watched is not None
        try:
            return self._watched.tensor(exported, node, graph)
        except (LookupError, StepFailed) as error:
            raise FixError(f"There is no tensor of {op}: {error}") from error

    def why(self, op: str | None = None) -> str:
        """What led to a NaN or an infinity: the element, its inputs there, and your line.

        Args:
            op: which op; by default, the first of `nonfinite`.

        Raises:
            KeyError: there is no such op.
            FixError: it gives no tensor.
        """
        from export_engine.values import explained

        found = {each.name: each for each in self.nonfinite}
        if not found:
            return "Every value is finite."
        if op is not None and op not in found:
            self._place(op)
            return f"{op} makes no NaN and no infinity out of finite inputs."
        chosen = found[op] if op is not None else next(iter(found.values()))
        return explained(self._record, chosen, self.tensor)

    def __getitem__(self, op: str) -> OpStatistics:
        from export_engine.record import BINS, floats

        graph, node = self._place(op)
        found = next((each for each in self.values.graphs if each.graph == graph), None)
        if found is None or not found.runs[node]:
            raise KeyError(f"{op} was not run, or gives no tensor.")
        return OpStatistics(
            name=op,
            runs=found.runs[node],
            numel=found.count[node],
            minimum=floats(found.minimum)[node],
            maximum=floats(found.maximum)[node],
            mean=floats(found.mean)[node],
            std=floats(found.std)[node],
            norm=floats(found.norm)[node],
            zeros=floats(found.zeros)[node],
            saturated=floats(found.saturated)[node],
            nans=found.nans[node],
            infs=found.infs[node],
            histogram=tuple(found.histogram[node * BINS : (node + 1) * BINS]),
        )

    def __iter__(self) -> Iterator[OpStatistics]:
        record = self._record
        for each in self.values.graphs:
            graph = record.graphs[each.graph]
            within = f"{graph.title}." if each.graph else ""
            for node, runs in enumerate(each.runs):
                if runs:
                    yield self[f"{within}{record.strings[graph.name[node]]}"]

    def __repr__(self) -> str:
        lines = value_lines(self._record, self.values)
        spilled = self._watched.spilled if self._watched else None
        if spilled:
            lines.append(
                f"Tensors of {spilled.count:,} ops, {amount(spilled.bytes)}, are in "
                f"{spilled.folder} until the next run is watched, or Python ends."
            )
        return "\n".join(lines)

    @property
    def _record(self) -> Record:
        return self._session.entries[self._number].record

    def _place(self, op: str) -> tuple[int, int]:
        known = op_places(self._record)
        if op not in known:
            raise KeyError(f"There is no op {op!r}.{nearest(op, known)}")
        return known[op]


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

    attempt = session.exported(number, "watch", progress)
    record = session.entries[number].record
    try:
        found = watch_here(attempt, record, device, inputs, sizes, progress, spill)
    except (ValueError, MemoryError, StepFailed) as error:
        raise FixError(str(error)) from error
    session.keep(number, watched=found)
    return WatchedRun(session, number)
