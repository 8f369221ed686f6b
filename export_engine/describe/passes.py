"""The passes of a joint graph, forward and backward, laid over its ops."""

from __future__ import annotations

import torch

from export_engine.record import Overlay
from export_engine.torch_internals import is_backward

PASS = "pass"
"""The name of the overlay that a query asks for."""
COLOURS = {"forward pass": "#3b82c4", "backward pass": "#d97b29"}
"""Overlays that colour the ops of each pass; legible on light and on dark."""


def describe_passes(graph: torch.fx.Graph) -> list[Overlay]:
    """`forward`, or which op of the forward pass an op is the gradient of; none in other graphs.

    autograd numbers the ops of the forward pass, and gives a backward op the number of its own.
    """
    forward: dict[int, str] = {}
    nodes, texts = [], []
    for at, node in enumerate(graph.nodes):
        backward = is_backward(node)
        if backward is None or node.op != "call_function":
            continue
        number = node.meta.get("seq_nr")
        if not backward:
            text = "forward"
            if number is not None:
                forward.setdefault(number, node.name)
        else:
            text = f"backward of {forward[number]}" if number in forward else "backward"
        nodes.append(at)
        texts.append(text)
    if not any(text.startswith("backward") for text in texts):
        return []
    noted = Overlay(name=PASS, kind="text", graphs=[0] * len(nodes), nodes=nodes, texts=texts)
    return [noted, *(_colour_pass(name, nodes, texts) for name in COLOURS)]


def _colour_pass(name: str, nodes: list[int], texts: list[str]) -> Overlay:
    first = name.partition(" ")[0]
    own = [node for node, text in zip(nodes, texts, strict=True) if text.startswith(first)]
    return Overlay(
        name=name, kind="colour", graphs=[0] * len(own), nodes=own, texts=[COLOURS[name]] * len(own)
    )
