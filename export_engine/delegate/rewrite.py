"""A Rewrite: one kind of change that puts other ops in an op's place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch.fx import Node

from export_engine.defects import log_internal_error
from export_engine.delegate.graph_edit import GraphEdit

Make = Callable[[GraphEdit, Node], Node | None]


@dataclass(frozen=True)
class Rewrite:
    """One kind of rewrite."""

    kind: str
    """`alpha`."""
    title: str
    """Its effect, as an imperative."""
    ops: frozenset[str]
    """The ops that it replaces: `aten.add.Tensor`; empty where it may replace any."""
    make: Make
    """The node in the op's place; None where the rewrite does not apply."""
    keeps_all: bool = True
    """Whether results are as precise as before. If not, it is lossy, however close they are."""

    def fits(self, node: Node) -> bool:
        """Whether it may replace an op, by the op's name alone."""
        return not self.ops or str(node.target) in self.ops

    def try_at(self, edit: GraphEdit) -> Node | None:
        """The node in the op's place; None where the rewrite does not apply, or fails."""
        try:
            return self.make(edit, edit.node)
        except Exception as error:  # noqa: BLE001 - an op may refuse a dtype by any error
            log_internal_error(error, f"rewriting {edit.node.name} by {self.kind}")
            return None


def collect_into(kinds: list[Rewrite]) -> Callable[..., Callable[[Make], Make]]:
    """A decorator that adds a kind to a list: of its name, its title and its ops."""

    def rewrite(kind: str, title: str, *ops: str, keeps_all: bool = True) -> Callable[[Make], Make]:
        def add(make: Make) -> Make:
            names = frozenset(f"aten.{op}" for op in ops)
            kinds.append(Rewrite(kind, title, names, make, keeps_all))
            return make

        return add

    return rewrite
