"""ExecuTorch's event tracer on a run: outputs of ops, and times of instructions."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any

import torch
from torch.fx import Node

from export_engine.run.backend import WARM, Job, RuntimeNode
from export_engine.run.op_origins import ops_of, sources_of
from export_engine.torch_internals import flat_leaves

_UNEMITTED = ("getitem", "alloc", "view")
"""Calls that become no instruction, since they only name memory."""
_ROOM = 1 << 20
"""Bytes besides the values: each event also has its op's inputs."""


def find_traced_values(lowered: Any, job: Job, space: int) -> dict[str, torch.Tensor]:
    """Outputs of the ops of the job's program, by name.

    Args:
        lowered: what `to_executorch` made of the program.
        job: the same, and its inputs.
        space: bytes of the values of all ops.
    """
    results = [
        event.debug_data or ()
        for event, _ in iter_instructions(trace_calls(lowered, job, 1, 4 * space + _ROOM))
    ]
    graph = lowered.exported_program().graph
    ops = ops_of(job.program, graph.nodes)
    tensors = {}
    for node, value in _iter_values(list(graph.nodes), results):
        if node.name in ops:
            tensors[ops[node.name]] = value.clone()
    return tensors


def read_instructions(lowered: Any, job: Job, calls: int) -> list[RuntimeNode]:
    """The instructions of a method in order, with the time of each; a delegate's call is one.

    Args:
        lowered: what `to_executorch` made of the program.
        job: the same, and its inputs.
        calls: how many are measured.
    """
    program = lowered.exported_program()
    nodes = list(program.graph.nodes)
    called = [node for node in nodes if node.op == "call_function" and not _is_unemitted(node)]
    numbers = {node: at for at, node in enumerate(called)}
    rows = [
        (
            tuple(1e3 * took for took in event.perf_data.raw[WARM:]),
            [str(part.name).partition(" #")[0] for part in inner],
        )
        for event, inner in iter_instructions(trace_calls(lowered, job, calls + WARM, 0))
    ]
    told = dict(pair_instructions(nodes, rows))
    sources = sources_of(job.program, nodes)
    result = []
    for node in called:
        took, parts = told.get(node, ((), []))
        name, ops = str(node.target), [sources.get(node.name, "")]
        if _is_delegate(node):
            module = getattr(program.graph_module, node.args[0].target)
            name = module.backend_id
            own = sources_of(job.program, module.original_module.graph.nodes)
            ops = list(dict.fromkeys(own.values()))
        result.append(
            RuntimeNode(
                node.name,
                f"{name}: {', '.join(parts)}" if parts else name,
                tuple(op for op in ops if op),
                tuple(dict.fromkeys(numbers[above] for above in _find_read(node, numbers))),
                took,
            )
        )
    return result


_INSTRUCTIONS = ("OPERATOR_CALL", "DELEGATE_CALL")


def iter_instructions(events: Iterable[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """The events of instructions in order, each with those of the delegate's own ops within."""
    inner: list[Any] = []
    for event in events:
        if event.is_delegated_op:
            inner.append(event)
        elif event.name in _INSTRUCTIONS:
            yield event, inner
            inner = []


def _find_read(node: Node, called: Container[Node]) -> Iterator[Node]:
    """The instructions whose values a node reads, past those that only name memory."""
    for above in node.all_input_nodes:
        if above in called:
            yield above
        elif above.op == "call_function":
            yield from _find_read(above, called)


def trace_calls(lowered: Any, job: Job, calls: int, room: int) -> list[Any]:
    """The events of calls, each once for all of them.

    Args:
        lowered: what `to_executorch` made of the program.
        job: the same, and its inputs.
        calls: how many.
        room: bytes for values; with 0 there are times only.
    """
    from executorch.devtools import Inspector
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    method = _load_for_executorch_from_buffer(
        lowered.buffer, enable_etdump=True, debug_buffer_size=room
    )
    for _ in range(calls):
        method.forward(flat_leaves(job.program, job.args, dict(job.kwargs)))
    trace, data = job.folder / "trace.etdp", job.folder / "values.bin"
    method.write_etdump_result_to_file(str(trace), str(data))
    inspector = Inspector(etdump_path=str(trace), debug_buffer_path=str(data) if room else None)
    return [event for block in inspector.event_blocks for event in block.events]


def _iter_values(nodes: list[Node], results: list[Any]) -> Iterator[tuple[Node, torch.Tensor]]:
    """Nodes and their values."""
    for node, told in pair_instructions(nodes, results):
        values = [item for item in told if isinstance(item, torch.Tensor)]
        items = [node] if isinstance(node.meta.get("val"), torch.Tensor) else _results(node)
        for output_node, value in zip(items, values[len(values) - len(items) :], strict=False):
            if output_node is not None and value.dim() == output_node.meta["val"].dim():
                yield output_node, value


def pair_instructions(nodes: list[Node], results: list[Any]) -> Iterator[tuple[Node, Any]]:
    """Nodes and the events of each: instructions run in the order of their nodes.

    A branch or a loop runs a number of them that is not known. So what comes before the first is
    counted from the start, and what comes after the last from the end.

    Args:
        nodes: of the lowered graph.
        results: what each instruction that ran gave, in order.
    """
    calls = [node for node in nodes if node.op == "call_function" and not _is_unemitted(node)]
    inner = [at for at, node in enumerate(calls) if _runs_graphs(node)]
    if not inner:
        if len(calls) == len(results):  # else they cannot be told apart
            yield from zip(calls, results, strict=True)
        return
    yield from zip(calls[: inner[0]], results, strict=False)
    yield from zip(reversed(calls[inner[-1] + 1 :]), reversed(results), strict=False)


def _runs_graphs(node: Node) -> bool:
    """Whether it is a branch or a loop."""
    return getattr(node.target, "namespace", "") == "higher_order" and not _is_delegate(node)


def _is_delegate(node: Node) -> bool:
    return getattr(node.target, "__name__", "") == "executorch_call_delegate"


def _results(node: Node) -> list[Node | None]:
    """The nodes that pick the results of one that has several."""
    picked = {user.args[1]: user for user in node.users if len(user.args) == 2}
    return [picked.get(at) for at in range(len(node.meta.get("val") or ()))]


def _is_unemitted(node: Node) -> bool:
    return getattr(node.target, "__name__", "") in _UNEMITTED
