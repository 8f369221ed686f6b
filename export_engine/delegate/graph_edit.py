"""An edit of a program's graph: ops put in place of one op, each with its value's type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from export_engine.torch_internals import pytree


class GraphEdit:
    """Puts ops before one op, and then their result in its place."""

    def __init__(self, node: Node) -> None:
        """Make one.

        Args:
            node: the op to replace, of a graph that is the caller's own.
        """
        self.node = node

    def emit(self, op: Any, *args: Any, **kwargs: Any) -> Node:
        """Calls an op before the node, with its line and module; returns the new node."""
        with self.node.graph.inserting_before(self.node):
            node = self.node.graph.call_function(op, args, kwargs)
        node.meta = {name: value for name, value in self.node.meta.items() if name != "val"}
        values = pytree.tree_map(_value, (args, dict(kwargs)))
        node.meta["val"] = op(*values[0], **values[1])
        return node

    def view(self, node: Node, sizes: Sequence[Any]) -> Node | None:
        """A view of these sizes, at most one of which is symbolic; None where more are."""
        written = as_written(sizes)
        return None if written is None else self.emit(_VIEW, node, written)

    def put(self, made: Node) -> None:
        """Puts a node in the place of the op, under its name, so that outputs keep theirs."""
        name = self.node.name
        self.node.replace_all_uses_with(made)
        self.node.graph.erase_node(self.node)
        made.name = name


_VIEW = torch.ops.aten.view.default


def _value(item: Any) -> Any:
    return item.meta["val"] if isinstance(item, Node) else item


def as_written(sizes: Sequence[Any]) -> list[int] | None:
    """Sizes for a view, -1 for the symbolic one; None where several are."""
    written = [size if isinstance(size, int) else -1 for size in sizes]
    return written if written.count(-1) <= 1 else None


def shape_of(node: Any) -> list[Any] | None:
    """The sizes of a node's tensor; None where it has none."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    return list(value.shape) if isinstance(value, torch.Tensor) else None


def static_shape(node: Any) -> list[int] | None:
    """The sizes of a node's tensor, where all are fixed."""
    sizes = shape_of(node)
    return sizes if sizes is not None and all(isinstance(size, int) for size in sizes) else None


def argument(node: Node, place: int, name: str, default: Any = None) -> Any:
    """An argument by its place or its name."""
    if len(node.args) > place:
        return node.args[place]
    return node.kwargs.get(name, default)
