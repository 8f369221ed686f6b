"""Two runs that were held against each other: a score for each op and module, and their tensors."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import torch

from export_engine.progress import Progress
from export_engine.record import Record, ValuePairs, bits
from export_engine.source import innermost
from export_engine.values.comparing import PairError, RunOf, compare_runs
from export_engine.values.error import OTHER_KERNEL, QUANTIZED, ROUNDED, Noise
from export_engine.values.running import running
from export_engine.values.steps import is_plain
from export_engine.values.within import inside_decomposition

_CLIP = 3.0e38


class Compared:
    """Two runs, op by op."""

    def __init__(
        self,
        one: RunOf,
        other: RunOf,
        rows: Sequence[PairError],
        inputs: str,
        wrong: Sequence[PairError] | None = None,
    ) -> None:
        """Make one; `compare_values` does.

        Args:
            one: the run in question.
            other: the run that it is held against.
            rows: the errors, in the order of execution.
            inputs: which inputs: `batch=2`.
            wrong: those at which an error enters, where more is known than `rows` say.
        """
        self.one = one
        self.other = other
        self.rows = tuple(rows)
        self.pairs = _columns(one, other, rows, inputs, wrong)

    def name(self, node: int) -> str:
        """The name of a node of this program's main graph."""
        record = self.one.record
        return record.strings[record.graphs[0].name[node]]

    def tensors(self, node: int) -> tuple[torch.Tensor, torch.Tensor]:
        """What a node and its partner gave, on the CPU. Both programs run again, up to them.

        Raises:
            LookupError: the node has no partner.
            StepFailed: a program raises an error.
        """
        partner = self.pairs.partner[node]
        if partner < 0:
            raise LookupError(f"{self.name(node)} has no partner in {self.other.title}.")
        return _fetched(self.one, node), _fetched(self.other, partner)

    def modules(self) -> dict[str, float]:
        """The largest error that an op of each module adds, the worst module first."""
        record = self.one.record
        found: dict[str, float] = {}
        for row in self.rows:
            scope = record.graphs[0].scope[row.blamed]
            path = record.scopes[scope].path if scope >= 0 else ""
            found[path] = max(found.get(path, 0.0), row.own.relative)
        return dict(sorted(found.items(), key=lambda each: -each[1]))


def compare_values(
    one: RunOf,
    other: RunOf,
    inputs: str = "example",
    progress: Callable[[Progress], None] | None = None,
) -> Compared:
    """Runs two programs op by op, side by side.

    Args:
        one: the run in question.
        other: the run that it is held against.
        inputs: which inputs: `batch=2`.
        progress: called every fifty ops.

    Raises:
        StepFailed: one of the programs raises an error.
        ValueError: a program has no graph.
        KeyboardInterrupt: the user interrupted; everything is as it was.
    """
    rows = compare_runs(one, other, _noise(one, other), progress)
    within = inside_decomposition(one, other, progress) if any(row.beyond for row in rows) else None
    return Compared(one, other, rows, inputs, within)


def _noise(one: RunOf, other: RunOf) -> Noise:
    if one.kind is not other.kind:
        return ROUNDED
    found = [run.record.quantization for run in (one, other)]
    schemes = [[layer.scheme for layer in each.layers] if each else [] for each in found]
    return OTHER_KERNEL if schemes[0] == schemes[1] else QUANTIZED


def _fetched(run: RunOf, node: int) -> torch.Tensor:
    with running(run.exported, run.record, run.request, run.device, None, run.kind) as again:
        for number, _, value in again.walk():
            if number == node and is_plain(value):
                return value.detach().clone().cpu()
    raise LookupError(f"Node {node} gives no tensor.")


def _columns(
    one: RunOf,
    other: RunOf,
    rows: Sequence[PairError],
    inputs: str,
    within: Sequence[PairError] | None,
) -> ValuePairs:
    record = one.record
    by_node = {row.node: row for row in rows}
    every = [by_node.get(node) for node in range(len(record.graphs[0].name))]
    wrong = [row for row in within or rows if row.beyond]
    faults = list(dict.fromkeys(row.blamed for row in wrong))
    worst = max(wrong, key=lambda row: row.own.relative).blamed if wrong else -1
    return ValuePairs(
        one=one.title,
        other=other.title,
        device=one.device,
        inputs=inputs,
        agrees=not wrong,
        sentence=_sentence(record, other.title, rows, wrong),
        partner=array("i", (row.partner if row else -1 for row in every)),
        absolute=bits([row.error.absolute if row else 0.0 for row in every]),
        relative=bits([row.error.relative if row else 0.0 for row in every]),
        cosine=bits([row.error.cosine if row else 1.0 for row in every]),
        sqnr=bits([row.error.sqnr if row else 200.0 for row in every]),
        own=bits([row.own.relative if row else 0.0 for row in every]),
        overflow=array("i", (min(row.overflow, 2**31 - 1) if row else 0 for row in every)),
        underflow=array("i", (min(row.underflow, 2**31 - 1) if row else 0 for row in every)),
        faults=faults,
        worst=worst,
    )


def _sentence(
    record: Record, other: str, rows: Sequence[PairError], wrong: Sequence[PairError]
) -> str:
    most = max((row.error.relative for row in rows), default=0.0)
    if not rows:
        return f"No op of the program has a partner in {other}."
    if not wrong:
        return (
            f"No op of {len(rows):,} is off from {other} by more than noise; "
            f"the largest error of a value is {min(most, _CLIP):.2g} of its norm."
        )
    first, worst = wrong[0], max(wrong, key=lambda row: row.own.relative)
    said = f"An error enters at {_place(record, first.blamed)}: {_size(first)}."
    if worst.blamed != first.blamed:
        said += f" The worst op is {_place(record, worst.blamed)}: {_size(worst)}."
    return said


def _size(row: PairError) -> str:
    if row.own.odd:
        return f"{row.own.odd:,} elements are finite in one run only"
    return f"off by {min(row.own.relative, _CLIP):.2g} of its norm"


def _place(record: Record, node: int) -> str:
    graph = record.graphs[0]
    frame = innermost(record, graph.stack[node])
    where = f" ({frame.name}:{frame.line})" if frame else ""
    return f"`{record.strings[graph.name[node]]}`{where}"
