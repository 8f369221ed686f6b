"""The stages of a runtime of its own, such as ONNX Runtime: the nodes that it runs."""

from __future__ import annotations

import statistics
import time
from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from export_engine.record import Kernel, Record, StageGraph, StageLine, StageTimes
from export_engine.run import RuntimeNode
from export_engine.stages.joining import Lines
from export_engine.stages.kernel_times import PROFILER_ADDS
from export_engine.stages.stage_graph import make_lists

CALLS = 40
"""So many calls of a runtime are measured."""
NOT_TOLD = "This backend does not expose the graphs before its nodes, or its generated code."


class RuntimeStages(NamedTuple):
    """A runtime's data, joined with the Record."""

    graphs: list[StageGraph]
    kernels: list[Kernel]
    lines: list[StageLine]
    times: StageTimes | None
    left_out: list[str]


def time_calls(call: Callable[[], Any]) -> list[float]:
    """Microseconds of warm calls, without a profile; the quicker half."""
    took = []
    for _ in range(CALLS):
        started = time.perf_counter()
        call()
        took.append(1e6 * (time.perf_counter() - started))
    return sorted(took)[: CALLS // 2]


def join_runtime(
    record: Record, title: str, nodes: Sequence[RuntimeNode], took: Sequence[float]
) -> RuntimeStages:
    """The nodes of a runtime as kernels, each of which computes for ops of the program.

    Args:
        record: of the program.
        title: of the backend.
        nodes: in the order in which they run.
        took: microseconds of calls without a profile.
    """
    graph, lines = record.graphs[0], Lines(record)
    numbers = {record.strings[name]: at for at, name in enumerate(graph.name)}
    origins = [sorted(numbers[op] for op in node.ops if op in numbers) for node in nodes]
    kernels = [
        Kernel(
            name=f"{node.name}:{at}",
            kind="extern",
            calls=node.calls,
            ops=[at],
            nodes=origins[at],
            lines=lines.of_nodes(origins[at]),
            microseconds=round(statistics.median(_quicker(node)), 3) if node.microseconds else -1,
        )
        for at, node in enumerate(nodes)
    ]
    runtime = StageGraph(
        name="runtime",
        text="",
        ops=[node.name for node in nodes],
        targets=[node.calls for node in nodes],
        types=[""] * len(nodes),
        line=array("i", [0] * len(nodes)),
        nodes=make_lists(origins),
        reads=make_lists([node.reads for node in nodes]),
    )
    unknown = sum(not node.ops for node in nodes)
    left_out = [NOT_TOLD]
    if unknown:
        left_out.append(f"{unknown} of {len(nodes)} nodes match no op of the program.")
    return RuntimeStages([runtime], kernels, lines.rows, _sum(title, kernels, took), left_out)


def _quicker(node: RuntimeNode) -> list[float]:
    return sorted(node.microseconds)[: max(len(node.microseconds) // 2, 1)]


def _sum(title: str, kernels: Sequence[Kernel], took: Sequence[float]) -> StageTimes | None:
    if all(kernel.microseconds < 0 for kernel in kernels):
        return None
    total = sum(max(kernel.microseconds, 0.0) for kernel in kernels)
    owned = sum(max(kernel.microseconds, 0.0) for kernel in kernels if kernel.lines)
    call = statistics.median(took)
    return StageTimes(
        method=f"Nodes by the profile of {title}; medians of the faster half of {CALLS} calls."
        + (PROFILER_ADDS if total > call else ""),
        calls=CALLS,
        call=round(call, 3),
        spread=round(took[-1] - took[0], 3),
        kernels=round(total, 3),
        overhead=round(max(call - total, 0.0), 3),
        owned=round(owned / total, 4) if total else 0.0,
    )
