"""Two runs that were held against each other: a score for each op and module, and their tensors."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import msgspec
import torch

from export_engine.progress import Progress
from export_engine.record import OpPairs, OpPlace, Record, ValuePairs, bits
from export_engine.source import find_last_frame
from export_engine.values.comparing import Found, compare_runs
from export_engine.values.error import OTHER_KERNEL, QUANTIZED, ROUNDED, Noise
from export_engine.values.inlined_calls import Inlined, both_inlined
from export_engine.values.kernels import by_kernels
from export_engine.values.matching import graph_pairs
from export_engine.values.pair_error import PairError, RunOf
from export_engine.values.watching import Watched
from export_engine.values.within import inside_decomposition, inside_own

_CLIP = 3.0e38
_FEW = 3


class Compared:
    """Two runs, op by op."""

    def __init__(
        self,
        one: RunOf,
        other: RunOf,
        found: Found,
        inputs: str,
        wrong: Sequence[PairError] | None = None,
        ran: tuple[Inlined, Inlined] | None = None,
        kernels: Sequence[PairError] = (),
    ) -> None:
        """Make one; `compare_values` does.

        Args:
            one: the run in question.
            other: the run that it is held against.
            found: the errors, in the order of execution.
            inputs: which inputs: `batch=2`.
            wrong: those at which an error enters, where more is known than `found` says.
            ran: the programs that `found` is of, if they are others.
            kernels: those of `found` that are the CPU's; see `by_kernels`.
        """
        self.one = one
        self.other = other
        self._ran = ran or (Inlined(one, {}), Inlined(other, {}))
        back = self._ran[0].back
        self._as_run = {back(row).place: row for row in found.rows}
        found = found._replace(rows=[back(row) for row in found.rows])
        self.rows = tuple(found.rows)
        pairs = _columns(one, other, found, inputs, wrong and [back(row) for row in wrong])
        text = _of_kernels(one.record, [back(row) for row in kernels])
        self.pairs = msgspec.structs.replace(pairs, sentence=pairs.sentence + text)

    def add_difference(self, sentence: str) -> None:
        """Says of outputs that they differ, though the ops agree."""
        text = f"{sentence} {self.pairs.sentence}"
        self.pairs = msgspec.structs.replace(self.pairs, agrees=False, sentence=text)

    def name(self, place: OpPlace) -> str:
        """The name of a node of this program; of a nested graph's, `true_graph_0.sin`."""
        return _name(self.one.record, place)

    def tensors(self, node: int, graph: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """The outputs of a node and its partner, on the CPU.

        Both programs run again, up to them; in a nested graph, the last outputs count.

        Raises:
            LookupError: the node has no partner.
            StepFailed: a program raises an error.
        """
        row = self._as_run.get((graph, node))
        if row is None or row.partner < 0:
            name = self.name(OpPlace(graph, node))
            raise LookupError(f"{name} has no matching op in {self.other.title}.")
        one, other = (inlined.run for inlined in self._ran)
        theirs = graph_pairs(one.record, other.record)[row.graph].other if row.graph else 0
        return _tensor(one, row.node, row.graph), _tensor(other, row.partner, theirs)

    def modules(self) -> dict[str, float]:
        """The largest error that an op of each module adds, the worst module first."""
        record = self.one.record
        entries: dict[str, float] = {}
        for row in self.rows:
            graph, node = row.fault
            scope = record.graphs[graph].scope[node]
            path = record.scopes[scope].path if scope >= 0 else ""
            entries[path] = max(entries.get(path, 0.0), row.own.relative)
        return dict(sorted(entries.items(), key=lambda each: -each[1]))


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
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    ran = both_inlined(one, other)
    mine, theirs = ran[0].run, ran[1].run
    noise = _noise(one, other)
    result = compare_runs(mine, theirs, noise, progress)
    result = result._replace(left_out=[*other.left_out, *result.left_out])
    wrong = [row for row in result.rows if row.beyond]
    kernels = by_kernels(mine, theirs, noise, wrong, progress)
    within = inside_decomposition(mine, theirs, progress) if wrong else None
    own = inside_own(mine, theirs, progress) if wrong else None
    # Where all parts are right, torch's decomposition is what differs: the op as a whole is named.
    parts = [row for row in within or own or () if row.beyond]
    return Compared(one, other, result, inputs, parts or None, ran, kernels)


def _tensor(run: RunOf, node: int, graph: int) -> torch.Tensor:
    return Watched(run.record, run.request, run.device, run.kind).tensor(run.exported, node, graph)


def _noise(one: RunOf, other: RunOf) -> Noise:
    if other.kind.known is not None:  # of a quantized value, steps may be taken otherwise
        return QUANTIZED if other.record.quantization else OTHER_KERNEL
    if one.kind is not other.kind:
        return ROUNDED
    quantizations = [run.record.quantization for run in (one, other)]
    schemes = [
        [layer.scheme for layer in quantization.layers] if quantization else []
        for quantization in quantizations
    ]
    return OTHER_KERNEL if schemes[0] == schemes[1] else QUANTIZED


def _columns(
    one: RunOf,
    other: RunOf,
    found: Found,
    inputs: str,
    within: Sequence[PairError] | None,
) -> ValuePairs:
    wrong = [row for row in within or found.rows if row.beyond]
    faults = list(dict.fromkeys(row.fault for row in wrong))
    worst = max(wrong, key=lambda row: row.own.relative) if wrong else None
    ran = sorted({0, *(row.graph for row in found.rows)})
    return ValuePairs(
        one=one.title,
        other=other.title,
        device=one.device,
        inputs=inputs,
        agrees=not wrong,
        sentence=_sentence(one.record, other.title, found.rows, wrong),
        graphs=[_of_graph(one.record, graph, found.rows) for graph in ran],
        faults=[OpPlace(*place) for place in faults],
        worst=OpPlace(*worst.fault) if worst else None,
        left_out=found.left_out,
    )


def _of_graph(record: Record, graph: int, rows: Sequence[PairError]) -> OpPairs:
    by_node = {row.node: row for row in rows if row.graph == graph}
    every = [by_node.get(node) for node in range(len(record.graphs[graph].name))]
    return OpPairs(
        graph=graph,
        partner=array("i", (row.partner if row else -1 for row in every)),
        absolute=bits([row.error.absolute if row else 0.0 for row in every]),
        relative=bits([row.error.relative if row else 0.0 for row in every]),
        cosine=bits([row.error.cosine if row else 1.0 for row in every]),
        sqnr=bits([row.error.sqnr if row else 200.0 for row in every]),
        own=bits([row.own.relative if row else 0.0 for row in every]),
        overflow=array("i", (min(row.overflow, 2**31 - 1) if row else 0 for row in every)),
        underflow=array("i", (min(row.underflow, 2**31 - 1) if row else 0 for row in every)),
    )


def _sentence(
    record: Record, other: str, rows: Sequence[PairError], wrong: Sequence[PairError]
) -> str:
    most = max((row.error.relative for row in rows), default=0.0)
    if not rows:
        return f"No op of the program matches an op of {other}."
    if not wrong:
        return (
            f"On the same inputs, all {len(rows):,} ops match {other} within tolerance. "
            f"Accumulated over the program, the largest relative error is {min(most, _CLIP):.2g}."
        )
    first, worst = wrong[0], max(wrong, key=lambda row: row.own.relative)
    text = f"The error starts at {_place(record, first)}: {_size(first)}."
    if worst.fault != first.fault:
        text += f" The largest error is at {_place(record, worst)}: {_size(worst)}."
    return text


def _of_kernels(record: Record, rows: Sequence[PairError]) -> str:
    if not rows:
        return ""
    listed = ", ".join(dict.fromkeys(_place(record, row) for row in rows[:_FEW]))
    more = f" and at {len(rows) - _FEW:,} more" if len(rows) > _FEW else ""
    return (
        f" Without oneDNN's kernels there is no error at {listed}{more}: this CPU's kernel is "
        "inaccurate, not the program."
    )


def _size(row: PairError) -> str:
    if row.own.odd:
        return f"{row.own.odd:,} elements are finite in only one of the runs"
    return f"relative error {min(row.own.relative, _CLIP):.2g}"


def _place(record: Record, row: PairError) -> str:
    graph, node = row.fault
    frame = find_last_frame(record, record.graphs[graph].stack[node])
    where = f" ({frame.name}:{frame.line})" if frame else ""
    return f"`{_name(record, OpPlace(graph, node))}`{where}"


def _name(record: Record, place: OpPlace) -> str:
    graph = record.graphs[place.graph]
    within = f"{graph.title}." if place.graph else ""
    return within + record.strings[graph.name[place.node]]
