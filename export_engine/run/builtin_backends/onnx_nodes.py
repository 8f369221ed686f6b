"""Which nodes onnxruntime runs of a converted program, for which ops, and how long they take."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from export_engine.run.backend import WARM, RuntimeNode

_EVENT = "_kernel_time"


def read_nodes(
    model: Any, optimized: Path, profile: Path, sources: Mapping[str, str]
) -> list[RuntimeNode]:
    """The nodes of the optimized graph, in its order.

    Args:
        model: the converted model.
        optimized: the file with the graph that onnxruntime runs.
        profile: the file with its profile.
        sources: per node of the graph that was converted, the op of the program it is a part of.
    """
    import onnx_ir

    nodes = [
        _Node(
            node.name or "",
            f"{node.domain}.{node.op_type}" if node.domain else node.op_type,
            [value.name for value in node.inputs if value is not None and value.name],
            [value.name for value in node.outputs if value.name],
        )
        for node in onnx_ir.load(optimized).graph
    ]
    ops, times = _find_ops(model, nodes, sources), _read_times(profile)
    numbers = {name: at for at, node in enumerate(nodes) for name in node.outputs}
    return [
        RuntimeNode(
            node.name or node.kernel,
            node.kernel,
            tuple(ops[at]),
            tuple(dict.fromkeys(numbers[name] for name in node.reads if name in numbers)),
            tuple(times.get(node.name, ())[WARM:]),
        )
        for at, node in enumerate(nodes)
    ]


class _Node(NamedTuple):
    name: str
    kernel: str
    reads: list[str]
    outputs: list[str]


def _find_ops(model: Any, nodes: Sequence[_Node], sources: Mapping[str, str]) -> list[list[str]]:
    """Per node of the optimized graph, the ops of the program that it computes.

    onnxruntime keeps the names of values that still exist. The optimized graph computes the
    same between two of them as the converted graph.
    """
    producers = {value.name: node for node in model.graph for value in node.outputs}
    kept = {name for node in nodes for name in node.outputs}
    numbers = {name: at for at, node in enumerate(nodes) for name in node.outputs}
    ops: list[dict[str, None]] = [{} for _ in nodes]
    for at, node in enumerate(nodes):
        own = [name for name in node.outputs if name in producers]
        region = _walk_back(own, kept, producers, sources)
        waiting = [at] if own else []
        while waiting:  # the nodes that only onnxruntime has, up to values that both have
            number = waiting.pop()
            ops[number].update(region)
            above = {numbers[name] for name in nodes[number].reads if name in numbers}
            waiting += [n for n in above if not any(o in producers for o in nodes[n].outputs)]
    return [list(row) for row in ops]


def _walk_back(
    outputs: Sequence[str],
    kept: Container[str],
    producers: Mapping[str | None, Any],
    sources: Mapping[str, str],
) -> dict[str, None]:
    """The ops of the converted graph's nodes above some values, up to values that still exist."""
    waiting, seen, names = list(outputs), set[str](), dict[str, None]()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in producers or (name in kept and name not in outputs):
            continue
        seen.add(name)
        node = producers[name]
        match = _FX_NODE.match(str(node.metadata_props.get("pkg.torch.onnx.fx_node", "")))
        if match is not None and match[1] in sources:
            names[sources[match[1]]] = None
        waiting += [value.name for value in node.inputs if value is not None and value.name]
    return names


_FX_NODE = re.compile(r"%(\w+)")


def _read_times(profile: Path) -> dict[str, list[float]]:
    """Per node the microseconds of each call, in order."""
    times: dict[str, list[float]] = defaultdict(list)
    for event in json.loads(profile.read_bytes()):
        name = str(event.get("name", ""))
        if event.get("cat") == "Node" and name.endswith(_EVENT):
            times[name.removesuffix(_EVENT)].append(float(event["dur"]))
    return times
