"""The partial graph of a failed attempt: the same columns, readable names.

Such a graph may be malformed. What cannot be described is left out, and never breaks the diagnosis.
"""

from __future__ import annotations

import re
from typing import Any

import torch

from export_engine.attempt import Attempt, as_module, signature_of
from export_engine.defects import passed_over
from export_engine.describe.graph import Graphs
from export_engine.shapes import Leaf, leaves_of

_COUNTED = re.compile(r"arg\d+_\d+")
"""Names that non-strict mode gives inputs until it is done."""
_FLAT = re.compile(r"l_flat_args_(?P<number>\d+)_")
"""Dynamo's names for the inputs of the call,"""
_HELD = re.compile(r"(?:l__self__|l_self_)_*(?:export_root_|modules_)*", re.IGNORECASE)
"""and for what the module holds."""


def add_partial(graphs: Graphs, attempt: Attempt) -> None:
    """Adds the graph traced before the failure, if any."""
    partial = attempt.recording.graph
    if partial is None:
        return
    nodes = list(partial.graph.nodes)
    if not any(node.op.startswith("call") for node in nodes):
        return
    before = len(graphs.entries)
    try:
        graphs.add(partial, "traced so far", names=_names(nodes, attempt))
    except Exception as error:  # noqa: BLE001 - see above
        passed_over(error, "describing a partial graph")
        del graphs.entries[before:]


def module_paths(attempt: Attempt) -> list[str]:
    """The attribute paths of the modules that were to be exported."""
    request = attempt.request
    if request is None:
        return []
    return [path for path, _ in as_module(request.target).named_modules()]


def _names(nodes: list[torch.fx.Node], attempt: Attempt) -> dict[str, str]:
    """Names for a graph's inputs and for the module's tensors that it reads."""
    request = attempt.request
    if request is None:
        return {}
    leaves = leaves_of(signature_of(request.target), request.args, request.kwargs)
    placeholders = [node for node in nodes if node.op == "placeholder"]
    if placeholders and all(_COUNTED.fullmatch(node.name) for node in placeholders):
        return _by_order(placeholders, as_module(request.target), leaves)
    names = {}
    for node in nodes:
        flat = _FLAT.fullmatch(node.name)
        if flat is not None and int(flat["number"]) < len(leaves):
            names[node.name] = leaves[int(flat["number"])].path
        elif node.op in ("placeholder", "get_attr") and _HELD.match(node.name):
            names[node.name] = _HELD.sub("", node.name, count=1).strip("_")
    return names


def _by_order(
    placeholders: list[torch.fx.Node], module: torch.nn.Module, leaves: list[Leaf]
) -> dict[str, str]:
    """Parameters come first, then buffers, other constants, and the inputs of the call."""
    held = [f"p_{_flat(name)}" for name, _ in module.named_parameters()]
    held += [f"b_{_flat(name)}" for name, _ in module.named_buffers()]
    names = {node.name: name for node, name in zip(placeholders, held, strict=False)}
    inputs = placeholders[len(held) :][-len(leaves) :] if leaves else []
    if len(inputs) == len(leaves) and all(map(_fits, inputs, leaves)):
        names |= {node.name: leaf.path for node, leaf in zip(inputs, leaves, strict=True)}
    return names


def _fits(node: torch.fx.Node, leaf: Leaf) -> bool:
    """Whether a placeholder may stand for an input."""
    value: Any = node.meta.get("val")
    tensor = isinstance(leaf.value, torch.Tensor)
    if not isinstance(value, torch.Tensor):
        return not tensor
    return tensor and value.dim() == leaf.value.dim()


def _flat(path: str) -> str:
    return path.replace(".", "_")
