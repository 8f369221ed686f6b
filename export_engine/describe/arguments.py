"""Arguments of a node as text, with placeholders for other nodes.

The text of `view(x, [batch, -1])` is `({0}, [batch, -1])` with the inputs `[x]`: equal for every
layer of a model, so a Record stores it once.

A saved program does not tell a list from a tuple, and torch takes either: the operands of a
higher-order operator and the outputs of a graph are always written as tuples, those of other
operators as lists.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from export_engine.describe.symbol_names import Symbols
from export_engine.record import sequence_text, string_text
from export_engine.torch_internals import HigherOrderOperator, OpOverload


class Arguments:
    """Prints arguments and collects the nodes among them."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols

    def template(self, node: Node) -> tuple[str, list[Node]]:
        """The text of a node's arguments, and the nodes of its placeholders, in order."""
        inputs: list[Node] = []
        kind = _sequences_of(node)
        parts = [self._text(value, inputs, kind) for value in node.args]
        parts += [f"{key}={self._text(value, inputs, kind)}" for key, value in node.kwargs.items()]
        return f"({', '.join(parts)})", inputs

    def _text(self, value: Any, inputs: list[Node], kind: type | None) -> str:
        if isinstance(value, Node):
            inputs.append(value)
            return f"{{{len(inputs) - 1}}}"
        if isinstance(value, tuple | list):
            items = [self._text(item, inputs, kind) for item in value]
            is_tuple = isinstance(value, tuple) if kind is None else kind is tuple
            return sequence_text(items, is_tuple)
        if isinstance(value, dict):
            items = [f"{key!r}: {self._text(item, inputs, kind)}" for key, item in value.items()]
            return f"{{{{{', '.join(items)}}}}}"
        if isinstance(value, slice):
            ends = (value.start, value.stop, value.step)
            return f"slice({', '.join([self._text(end, inputs, kind) for end in ends])})"
        return self._plain(value).replace("{", "{{").replace("}", "}}")

    def _plain(self, value: Any) -> str:
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return str(self._symbols.size(value))
        if isinstance(value, bool | int | float | complex | None):
            return repr(value)
        if isinstance(value, str):
            return string_text(value)
        if isinstance(value, torch.dtype | torch.device | torch.layout | torch.memory_format):
            return str(value)
        if isinstance(value, OpOverload | HigherOrderOperator):
            return f"<torch.ops.{value}>"
        # A custom object: only its class, since its repr would run the model's code.
        return f"<{type(value).__name__}>"


def _sequences_of(node: Node) -> type | None:
    """How every sequence among a node's arguments is written; None for as it is."""
    if node.op == "output" or isinstance(node.target, HigherOrderOperator):
        return tuple
    return list if isinstance(node.target, OpOverload) else None
