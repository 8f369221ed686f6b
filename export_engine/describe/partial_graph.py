"""The partial graph of a failed attempt: the same columns, readable names, and its inputs.

Such a graph may be malformed. Nodes that cannot be described are left out, and never break the
diagnosis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch

from export_engine.attempt import Attempt, as_module, signature_of
from export_engine.defects import log_internal_error
from export_engine.describe.graphs import Graphs
from export_engine.describe.held_tensors import held_bytes
from export_engine.describe.live_graph import LiveGraph
from export_engine.describe.symbols import Symbols
from export_engine.record import InputEntry, Signature
from export_engine.shapes import Leaf, leaves_of
from export_engine.trace import PartialGraph

_COUNTED = re.compile(r"arg\d+_\d+")
"""Names that non-strict mode gives inputs until it is done."""
_FLAT = re.compile(r"l_flat_args_(?P<number>\d+)_")
"""Dynamo's names for the inputs of the call,"""
_HELD = re.compile(r"(?:l__self__|l_self_)_*(?:export_root_|modules_)*", re.IGNORECASE)
"""and for what the module holds."""


@dataclass(frozen=True)
class _Known:
    """What is known of a node that is an input, or a tensor that the module holds."""

    kind: Literal["user_input", "parameter", "buffer", "constant_tensor"]
    name: str
    """To call the node by."""
    place: str
    """Where the caller passes it, or where it lives in the module."""
    bytes: int = 0


def add_partial(graphs: Graphs, symbols: Symbols, attempt: Attempt) -> Signature:
    """Adds the graph traced before the failure, if any.

    Args:
        graphs: of the Record.
        symbols: of the Record.
        attempt: the failed one.

    Returns:
        Its inputs and the tensors of the module that it reads, as far as they are known.
    """
    nothing = Signature([], [])
    partial = attempt.recording.graph
    if partial is None:
        return nothing
    nodes = list(partial.graph.nodes)
    if not any(node.op.startswith("call") for node in nodes):
        return nothing
    before = len(graphs.entries)
    try:
        entries = _find_known(nodes, partial, attempt)
        names = {name: item.name for name, item in entries.items()}
        graphs.add(LiveGraph(partial, symbols, names), "traced so far")
    except Exception as error:  # noqa: BLE001 - see above
        log_internal_error(error, "describing a partial graph")
        del graphs.entries[before:]
        return nothing
    types = graphs.entries[before].type
    return Signature(
        [
            _entry(entries[node.name], at, types[at])
            for at, node in enumerate(nodes)
            if node.name in entries
        ],
        [],
    )


def _entry(known: _Known, node: int, kind: int) -> InputEntry:
    is_given = known.kind == "user_input"
    return InputEntry(
        known.kind,
        name=known.name,
        node=node,
        type=kind,
        target="" if is_given else known.place,
        path=known.place if is_given else "",
        bytes=known.bytes,
    )


def module_paths(attempt: Attempt) -> list[str]:
    """The attribute paths of the modules that were to be exported."""
    request = attempt.request
    if request is None:
        return []
    return [path for path, _ in as_module(request.target).named_modules()]


def _find_known(
    nodes: list[torch.fx.Node], partial: PartialGraph, attempt: Attempt
) -> dict[str, _Known]:
    """The graph's inputs and the module's tensors that it reads, by the nodes' names."""
    request = attempt.request
    if request is None:
        return {}
    leaves = leaves_of(signature_of(request.target), request.args, request.kwargs)
    placeholders = [node for node in nodes if node.op == "placeholder"]
    module = as_module(request.target)
    if placeholders and all(_COUNTED.fullmatch(node.name) for node in placeholders):
        return _by_order(placeholders, module, leaves)
    held = {id(value): item for value, item in _held_by(module)}
    result = {}
    for node in nodes:
        flat = _FLAT.fullmatch(node.name)
        if flat is not None and int(flat["number"]) < len(leaves):
            result[node.name] = _make_input(leaves[int(flat["number"])])
        elif node.op in ("placeholder", "get_attr") and _HELD.match(node.name):
            name = _HELD.sub("", node.name, count=1).strip("_")
            value = getattr(partial.root, str(node.target), None)
            own = held.get(id(value))
            if own is not None:
                result[node.name] = replace(own, name=name)
            elif isinstance(value, torch.Tensor):
                result[node.name] = _Known("constant_tensor", name, name, held_bytes(value))
    return result


def _by_order(
    placeholders: list[torch.fx.Node], module: torch.nn.Module, leaves: list[Leaf]
) -> dict[str, _Known]:
    """Parameters come first, then buffers, other constants, and the inputs of the call."""
    held = [item for _, item in _held_by(module)]
    result = {node.name: item for node, item in zip(placeholders, held, strict=False)}
    inputs = placeholders[len(held) :][-len(leaves) :] if leaves else []
    if len(inputs) == len(leaves) and all(map(_fits, inputs, leaves)):
        result |= {node.name: _make_input(leaf) for node, leaf in zip(inputs, leaves, strict=True)}
    return result


def _held_by(module: torch.nn.Module) -> Iterator[tuple[torch.Tensor, _Known]]:
    """A module's parameters, then its buffers, named as an exported program names them."""
    for path, parameter in module.named_parameters():
        yield parameter, _Known("parameter", f"p_{_flat(path)}", path, held_bytes(parameter))
    for path, buffer in module.named_buffers():
        yield buffer, _Known("buffer", f"b_{_flat(path)}", path, held_bytes(buffer))


def _make_input(leaf: Leaf) -> _Known:
    return _Known("user_input", leaf.path, leaf.path)


def _fits(node: torch.fx.Node, leaf: Leaf) -> bool:
    """Whether a placeholder may stand for an input."""
    value: Any = node.meta.get("val")
    tensor = isinstance(leaf.value, torch.Tensor)
    if not isinstance(value, torch.Tensor):
        return not tensor
    return tensor and value.dim() == leaf.value.dim()


def _flat(path: str) -> str:
    return path.replace(".", "_")
