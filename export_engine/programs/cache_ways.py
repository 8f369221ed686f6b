"""Where a cache tensor comes from and what it is for, read off the ops of one program."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Literal

from export_engine.programs.component import Component
from export_engine.programs.op_walk import VIEWS

Role = Literal["keys", "values"]

_SAME = (*VIEWS, "aten.expand.", "aten.to.", "aten._to_copy.")
"""Ops that give the values that they take."""
_JOINS = (
    "aten.cat.",
    "aten.copy_.",
    "aten.index_copy",
    "aten.index_put",
    "aten.scatter",
    "aten.select_scatter.",
    "aten.slice_scatter.",
)
"""Ops that give a cache with more in it."""
_PRODUCTS = ("aten.matmul.", "aten.bmm.", "aten.einsum.", "aten.baddbmm.")
_ATTENTION = ("aten.scaled_dot_product_attention.", "aten._scaled_dot_product_")
_SOFTMAX = ("aten.softmax.", "aten._softmax.")
_WEIGHS = ("aten.linear.", "aten.addmm.", "aten.mm.", "aten.conv", "aten.embedding.")
_ROLES: dict[int, Role] = {1: "keys", 2: "values"}
"""By the place among the arguments of an attention op."""


class CacheWays:
    """The ways of cache tensors through the main graph of a program."""

    def __init__(self, component: Component) -> None:
        """Make one.

        Args:
            component: the program.
        """
        self._walk = component.walk
        self._weights = {
            entry.node: entry.target
            for entry in component.record.signature.inputs
            if entry.kind == "parameter"
        }

    def weights(self, node: int) -> frozenset[str]:
        """The parameters of the ops that made a tensor, as near to it as they are."""
        texts, waiting, seen = set[str](), [node], set[int]()
        while waiting:
            at = waiting.pop()
            if at in seen or self._walk.is_placeholder(at):
                continue
            seen.add(at)
            inputs = self._walk.inputs(at)
            held = [self._weights[source] for source in inputs if source in self._weights]
            texts.update(held)
            if not held:
                waiting += inputs
        return frozenset(texts)

    def find_growth(self, cache: int) -> tuple[int, frozenset[str]]:
        """The op that puts more into a cache, and the parameters that this was made by.

        Returns:
            -1 and none where nothing is put into it.
        """
        for node in self._forward(cache, _SAME):
            for reader in self._walk.readers(node):
                if self._walk.name(reader).startswith(_JOINS):
                    more = [source for source in self._walk.inputs(reader) if source != node]
                    result = frozenset[str]().union(*map(self.weights, more))
                    if result:
                        return reader, result
        return -1, frozenset()

    def find_source(self, node: int) -> int:
        """The input that a tensor is, with more in it; -1 where it is of none, or of several."""
        numbers, waiting, seen = set[int](), [node], set[int]()
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            name, inputs = self._walk.name(at), self._walk.inputs(at)
            if self._walk.is_placeholder(at):
                numbers.add(at)
            elif name.startswith("aten.cat."):
                waiting += inputs
            elif name.startswith((*_SAME, *_JOINS)):
                waiting += inputs[:1]
        return numbers.pop() if len(numbers) == 1 else -1

    def role(self, node: int) -> Role | None:
        """Whether attention takes a tensor as its keys or as its values; None for both or neither.

        Args:
            node: the tensor, or a copy of it that is only returned.
        """
        starts, at = {node}, node
        while self._walk.name(at).startswith((*_SAME, *_JOINS)):
            numbers = [source for source in self._walk.inputs(at) if self._walk.type(source).shape]
            if not numbers:
                break
            joins = self._walk.name(at).startswith(_JOINS)
            at = numbers[-1 if joins else 0]  # of a cache that grew, what is new
            starts.add(at)
        roles = {role for start in starts for role in self._roles(start)}
        return roles.pop() if len(roles) == 1 else None

    def _roles(self, start: int) -> Iterator[Role]:
        for node in self._forward(start):
            for reader in self._walk.readers(node):
                name = self._walk.name(reader)
                if name.startswith(_ATTENTION):
                    positions, _ = self._walk.arguments(reader)
                    own = f"{{{self._walk.inputs(reader).index(node)}}}"
                    places = [at for at, text in enumerate(positions) if text == own]
                    yield from (_ROLES[at] for at in places if at in _ROLES)
                elif name.startswith(_PRODUCTS):
                    others = [source for source in self._walk.inputs(reader) if source != node]
                    if any(map(self._is_softmax, others)):
                        yield "values"
                    elif self._leads_to_softmax(reader):
                        yield "keys"

    def _forward(self, start: int, through: tuple[str, ...] = ()) -> Iterator[int]:
        """A tensor, and what is made of it up to a product with others."""
        waiting, seen = deque([start]), set[int]()
        while waiting:
            node = waiting.popleft()
            if node in seen:
                continue
            seen.add(node)
            yield node
            for reader in self._walk.readers(node):
                name = self._walk.name(reader)
                ends = name.startswith((*_PRODUCTS, *_ATTENTION, *_WEIGHS, *_SOFTMAX))
                if not ends and (not through or name.startswith(through)):
                    waiting.append(reader)

    def _is_softmax(self, node: int) -> bool:
        """Whether a tensor is the result of a softmax, maybe cast or with dropout."""
        while not self._walk.is_placeholder(node):
            name, inputs = self._walk.name(node), self._walk.inputs(node)
            if name.startswith(_SOFTMAX):
                return True
            if not name.startswith((*_SAME, "aten.dropout.")) or not inputs:
                return False
            node = inputs[0]
        return False

    def _leads_to_softmax(self, product: int) -> bool:
        return any(
            self._walk.name(reader).startswith(_SOFTMAX)
            for node in self._forward(product)
            for reader in self._walk.readers(node)
        )
