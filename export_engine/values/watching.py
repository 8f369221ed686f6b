"""Watches a run: statistics of what every op gave, and any op's tensor again when it is asked for.

Tensors are not kept: one is fetched by running the program again up to its op, on the same inputs
with the same random numbers. The last ones that were fetched stay, within a budget. Where running
again takes too long, the run writes them to disk (`spill`), and they are read from there.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch

from export_engine.attempt import Exported, Request
from export_engine.progress import Progress
from export_engine.record import OPS, Record, Values
from export_engine.run import Inputs, Rejected, Sizes, calls_of, find_refusal, present_device
from export_engine.values.notes import Notes
from export_engine.values.running import Run, running
from export_engine.values.spilled import Spilled
from export_engine.values.steps import Observer, Steps, bytes_of, is_plain, left_out_of
from export_engine.verify import Subject

_CALL = OPS.index("call_function")
KEPT = 64 * 2**20
"""Bytes of fetched tensors that are kept."""


class Watched:
    """A run that was watched: its statistics, and its tensors when they are asked for."""

    def __init__(
        self, record: Record, request: Request, device: str, kind: type[Steps] = Steps
    ) -> None:
        """Make one; `watch` does.

        Args:
            record: the program, described.
            request: the call; its inputs are kept with this.
            device: where it runs.
            kind: what runs it.
        """
        self._record = record
        self._request = request
        self.device = device
        self._kind = kind
        self._kept: OrderedDict[tuple[int, int], torch.Tensor] = OrderedDict()
        self.values: Values
        self.spilled: Spilled | None = None
        """The tensors on disk, if they were asked for."""

    def tensor(self, exported: Exported, node: int, graph: int = 0) -> torch.Tensor:
        """A node's output, a copy on the CPU; for a nested graph's, from its last run.

        Args:
            exported: the program that was watched.
            node: its number in the graph.
            graph: the number of the graph in the Record.

        Raises:
            LookupError: it gives no tensor, or was not run.
            StepFailed: the program raises an error before it.
            KeyboardInterrupt: the user interrupted; nothing has changed.
        """
        key = graph, node
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        result = self.spilled.read(graph, node) if self.spilled else None
        if result is None:
            result = self._fetch(exported, graph, node)
        self._kept[key] = result
        while len(self._kept) > 1 and sum(map(bytes_of, self._kept.values())) > KEPT:
            self._kept.popitem(last=False)
        return result

    def _fetch(self, exported: Exported, graph: int, node: int) -> torch.Tensor:
        seen: list[torch.Tensor] = []

        def observe(of: int, number: int, value: Any) -> None:
            if (of, number) == (graph, node) and is_plain(value):
                seen[:] = [value.detach().clone().cpu()]

        with self.running(exported, observe) as run:
            for number, _, value in run.walk():
                observe(0, number, value)
                if seen and (graph == 0 or _holds(self._record, number, graph)):
                    break
        if not seen:
            raise LookupError(f"Node {node} of graph {graph} did not run, or returns no tensor.")
        return seen[0]

    def running(
        self, exported: Exported, observe: Observer | None = None
    ) -> AbstractContextManager[Run]:
        """The run once more; see `Run`."""
        return running(exported, self._record, self._request, self.device, observe, self._kind)


def _holds(record: Record, node: int, graph: int) -> bool:
    """Whether a node of the main graph runs a graph, itself or by one inside."""
    inside = [
        nested_graph.graph for nested_graph in record.graphs[0].nested if nested_graph.node == node
    ]
    while inside:
        one = inside.pop()
        if one == graph:
            return True
        inside += [nested_graph.graph for nested_graph in record.graphs[one].nested]
    return False


def watch(
    exported: Exported,
    record: Record,
    device: str = "cpu",
    inputs: Inputs = None,
    sizes: Sizes = None,
    progress: Callable[[Progress], None] | None = None,
    spill: str | Path | None = None,
) -> Watched:
    """Runs a program once, op by op, and notes the statistics of every value.

    Args:
        exported: whose program.
        record: the same, described.
        device: where to run it.
        inputs: what to run it with; the example's by default.
        sizes: values of symbols, for fresh inputs.
        progress: called every hundred ops.
        spill: a folder, for the tensors that ops give; see `Spilled`.

    Raises:
        StepFailed: the program raises an error.
        ValueError: there is no such device, input, size or folder, or the disk is full.
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    device = present_device(device)
    request, label = prepare_call(exported, record, inputs, sizes)
    watched = Watched(record, request, device)
    watched.spilled = Spilled(spill) if spill is not None else None
    try:
        watched.values = _watch(watched, exported, record, label, progress)
    except BaseException:
        if watched.spilled:
            watched.spilled.remove()
        raise
    return watched


def _watch(
    found: Watched,
    exported: Exported,
    record: Record,
    label: str,
    progress: Callable[[Progress], None] | None,
) -> Values:
    notes, spilled = Notes(record), found.spilled
    graph = record.graphs[0]
    left_out: list[str] = []
    started = time.perf_counter()

    def observe(of: int, number: int, value: Any) -> None:
        notes.observe(of, number, value)
        if spilled and record.graphs[of].op[number] == _CALL:
            spilled.write(of, number, value)

    with found.running(exported, observe) as run:
        for number, node, value in run.walk():
            observe(0, number, value)
            left_out.append(left_out_of(node, run.steps.module, "watched"))
            if progress and number % 100 == 0:
                progress(Progress(number, len(graph.name), node.name, "watch"))
    return Values(
        device=found.device,
        inputs=label,
        seconds=round(time.perf_counter() - started, 6),
        memory=run.peak,
        graphs=notes.columns(),
        left_out=[text for text in left_out if text],
    )


def prepare_call(
    exported: Exported, record: Record, inputs: Inputs = None, sizes: Sizes = None
) -> tuple[Request, str]:
    """The call to run a program with, and what to call it; see `watch`.

    Raises:
        ValueError: there is no such input or size, or the program rejects the inputs.
    """
    call = calls_of(Subject(exported, record, 0), inputs, sizes)[0]
    request = call.make()
    if inputs is not None:
        refusal = find_refusal(exported.program, record, request.args, request.kwargs)
        if refusal:
            raise Rejected(f"The program rejects these inputs: {refusal}.")
    return request, call.label
