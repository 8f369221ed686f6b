"""Transforms of torch.func in a graph, such as vmap: nodes that enter a level and that leave it.

In between, tensors stand for a batch of tensors and have no values of their own, and torch's levels
are of the whole process. So what is in between is run in one go, and no level stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.fx import GraphModule, Node

_ENTERS = "_increment_nesting"
_LEAVES = "_decrement_nesting"
_TAKES_OUT = "_remove_batch_dim"
"""The result of a level, as a separate tensor."""


def is_entered(target: Any) -> bool:
    """Whether a call enters a level."""
    return _name(target).endswith(_ENTERS)


class Levels:
    """The levels that a run of a graph is in."""

    def __init__(self, module: GraphModule) -> None:
        """Make one.

        Args:
            module: whose graph is run.
        """
        self._leaving = {
            _name(node.target).removesuffix(_LEAVES): node.target
            for node in module.graph.nodes
            if _name(node.target).endswith(_LEAVES)
        }
        self._open: list[str] = []
        self.inside: set[str] = set()
        """Names of nodes whose tensors have no values of their own."""

    @property
    def depth(self) -> int:
        """How many levels there are now."""
        return len(self._open)

    def is_seen(self, node: Node) -> bool:
        """Whether a node that has just run gives values of its own."""
        name = _name(node.target)
        if name.endswith(_ENTERS):
            self._open.append(name.removesuffix(_ENTERS))
        seen = not self._open or (name == _TAKES_OUT and len(self._open) == 1)
        if name.endswith(_LEAVES) and self._open:
            self._open.pop()
        if not seen:
            self.inside.add(node.name)
        return seen

    def leave(self) -> None:
        """Leaves all levels, where a run ends in the middle."""
        while self._open:
            leave: Callable[[], Any] | None = self._leaving.get(self._open.pop())
            if leave is not None:
                leave()


def _name(target: Any) -> str:
    return str(getattr(target, "__name__", ""))
