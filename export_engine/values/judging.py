"""Says of each op of a graph whether it is off by itself."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch.fx import Node

from export_engine.torch_internals import to_strided
from export_engine.values.error import (
    EQUAL,
    OTHER_KERNEL,
    QUANTIZED,
    SAME_KERNEL,
    Error,
    Noise,
    epsilon,
    error_of,
    grow_noise,
    is_beyond,
    is_rounding,
)
from export_engine.values.matching import GraphPair, constants_of, is_same_op
from export_engine.values.pair_error import PairError, RunOf
from export_engine.values.reference import Known, copy_tensor, source_of, writes
from export_engine.values.steps import Steps, is_plain
from export_engine.verify import find_unmatched


class Judge:
    """Says of each op whether it is off by itself."""

    def __init__(
        self,
        one: RunOf,
        other: RunOf,
        pair: tuple[int, GraphPair],
        noise: Noise,
        held: Collection[int] = (),
    ) -> None:
        """Make one.

        Args:
            one: the run in question.
            other: the run that is right.
            pair: a graph of the first, by number, and its partner.
            noise: what an op may be off by.
            held: of a nested graph, its placeholders that are given weights.
        """
        self._one, self._other = one, other
        self._graph, (partner, self._pairs) = pair
        self._graphs = self._graph, partner
        self._noise = noise
        self._alike = one.kind is other.kind and one.device == other.device
        self._writes = writes(one.record)
        self.constants = constants_of(one.record, self._graph, held)
        self.inside: dict[str, float] = {}
        """Of nodes with nested graphs that were compared, by how many turns noise may have grown;
        0 where the ops inside say all that there is to say.
        """
        self._wrong_constants: set[int] = set()
        level = one.record.level
        made_here = level is not None and other.record.level is None and not self._graph
        origins = level.origins if level and made_here else ()
        self._made = {node for node, origin in enumerate(origins) if origin >= 0}
        """Nodes that are known to be parts of another op."""
        self._given: dict[str, torch.Tensor] = {}
        """Values of ops that have no partner, while they may be asked for."""
        self._nodes: dict[int, Node] = {}
        """Those ops, by number."""
        self._unfit: set[str] = set()
        """Ops whose right value this run's dtype cannot hold: what reads them is not judged."""
        self._numbers: dict[str, int] = {
            one.record.strings[name]: node
            for node, name in enumerate(one.record.graphs[self._graph].name)
        }

    def of(
        self, number: int, node: Node, value: Any, forced: Any, known: Known, steps: Steps
    ) -> PairError | None:
        """The error of an op; None where it gives no tensors to compare.

        Args:
            number: the node's.
            node: what was run.
            value: what it gave.
            forced: what it gave on right inputs.
            known: its partner, in the run that is right.
            steps: what ran it on right inputs; it goes on from the right value.
        """
        partner = self._pairs[number]
        right = known.value
        if not all(is_plain(item) for item in (value, forced, right)):
            return None
        if not value.shape == forced.shape == right.shape:
            return None
        own = error_of(forced, right)
        if not self._unfit.isdisjoint(
            input_node.name for input_node in source_of(node).all_input_nodes
        ):
            own = EQUAL
        noise = self._noise_of(number, node, partner)
        turns = self.inside.get(source_of(node).name, 1)
        beyond = own is not EQUAL and turns > 0
        beyond = beyond and is_beyond(own, grow_noise(noise, turns), forced, right)
        beyond = beyond and not _is_noise(own, grow_noise(noise, turns), forced, known)
        blamed = self._producer(number, node)
        wrong = self._wrong_input(node, known) or (
            self._wrong_values(node, known) if beyond else None
        )
        if wrong is not None:
            blamed, error = wrong
            own = max(own, error, key=lambda each: each.relative)
        elif number in self.constants:
            if beyond and any(self._is_wrong(input_node) for input_node in node.all_input_nodes):
                beyond = False  # its weight is: the op that uses it is told
            if own.relative > 0:
                self._wrong_constants.add(number)
        if number not in self.constants:
            self._force(steps, node, forced, right)
        lost = (_dense(forced) == 0) & (_dense(right) != 0)
        return PairError(
            node=number,
            partner=partner,
            error=error_of(value, right),
            own=own,
            beyond=beyond or wrong is not None,
            fault=(self._graph, blamed),
            overflow=own.odd,
            underflow=int(lost.sum()) if forced.is_floating_point() else 0,
            graph=self._graph,
        )

    def of_output(self, number: int, value: Any, forced: Any, right: Any) -> PairError | None:
        """The error of what is returned, where its partner is not; None if it is right.

        Args:
            number: of the node that is returned.
            value: what it gave.
            forced: what it gave on right inputs.
            right: what the other run returns there.
        """
        if not all(is_plain(item) for item in (value, forced, right)):
            return None
        if not value.shape == forced.shape == right.shape:
            return None
        own = error_of(forced, right)
        if not is_beyond(own, self._noise, forced, right):
            return None
        node = self._nodes.get(number)
        blamed = self._first_alone(node, number) if node is not None else number
        return PairError(
            node=number,
            partner=self._pairs.get(number, -1),
            error=error_of(value, right),
            own=own,
            beyond=True,
            fault=(self._graph, blamed),
            overflow=own.odd,
            underflow=0,
            graph=self._graph,
        )

    def keep(self, node: Node, forced: Any) -> None:
        """Keeps what an op without a partner gave, until the last op that reads it."""
        if self._is_alone(node) and isinstance(forced, torch.Tensor):
            self._nodes[self.number(node)] = node
            self._given[node.name] = copy_tensor(forced) if self._writes else forced

    def _noise_of(self, number: int, node: Node, partner: int) -> Noise:
        if not self._alike or not is_same_op(
            self._one.record, number, self._other.record, partner, self._graphs
        ):
            return self._noise
        direct = all(self.number(input_node) in self._pairs for input_node in node.all_input_nodes)
        return SAME_KERNEL if direct and self._noise is OTHER_KERNEL else self._noise

    def _is_wrong(self, node: Node) -> bool:
        """Whether a constant input is not the other program's: a damaged weight."""
        number = self.number(node)
        return number in self._wrong_constants or node.op == "placeholder"

    def _producer(self, number: int, node: Node) -> int:
        """The op of which a node is a result: its own, or where it only picks one, that one."""
        return self.number(source_of(node)) if source_of(node) is not node else number

    def _wrong_input(self, node: Node, known: Known) -> tuple[int, Error] | None:
        """An op without a partner between this one and the value that it should be given."""
        mine = source_of(node).all_input_nodes
        if len(mine) != len(known.inputs):
            return None
        for input_node, right in zip(mine, known.inputs, strict=True):
            tensor = self._given.get(input_node.name)
            if tensor is None or not isinstance(right, torch.Tensor) or tensor.shape != right.shape:
                continue
            error = error_of(tensor, right)
            if is_beyond(error, self._noise, tensor, right):
                return self._first_alone(input_node, self.number(input_node)), error
        return None

    def _wrong_values(self, node: Node, known: Known) -> tuple[int, Error] | None:
        """The same for an op with a different order of inputs: matched by their values."""
        mine = source_of(node).all_input_nodes
        for input_node in mine:
            tensor = self._given.get(input_node.name)
            alike = [
                right for right in known.inputs if tensor is not None and _may_be(tensor, right)
            ]
            if tensor is None or not alike:
                continue
            held = tensor.flatten().sort().values
            errors = [(error_of(held, _sort_values(right, held)), right) for right in alike]
            if all(is_beyond(error, self._noise, tensor, right) for error, right in errors):
                least = min((error for error, _ in errors), key=lambda error: error.relative)
                return self._first_alone(input_node, self.number(input_node)), least
        return None

    def _is_alone(self, node: Node) -> bool:
        number = self.number(node)
        return (
            node.op == "call_function"
            and number not in self._pairs
            and number not in self.constants
            and number not in self._made
        )

    def _first_alone(self, node: Node, fallback: int) -> int:
        """The first op without a partner among those that a node is made of."""
        unmatched = find_unmatched(node, self._is_alone) | (
            {node} if self._is_alone(node) else set()
        )
        return min([fallback, *map(self.number, unmatched)])

    def number(self, node: Node) -> int:
        """A node's number; -1 where the Record has none."""
        return self._numbers.get(node.name, -1)

    def find_node(self, name: str) -> int:
        """The number of the node of a name; -1 for none."""
        return self._numbers.get(name, -1)

    def let_go(self, steps: Steps, node: Node) -> None:
        """Forgets values that nothing reads after a node."""
        for dead in steps.user_to_last_uses.get(node, ()):
            self._given.pop(dead.name, None)

    def _force(self, steps: Steps, node: Node, forced: torch.Tensor, right: torch.Tensor) -> None:
        """Gives the op the right value, for what follows it."""
        if forced.is_floating_point() != right.is_floating_point():
            return
        cast = right.to(forced.device, forced.dtype)
        if cast.is_floating_point() and bool(
            (_dense(cast).isinf() & _dense(right).isfinite()).any()
        ):
            self._unfit.add(node.name)
        if not (self._writes and _is_overwritten(forced, cast)):
            steps.env[node] = cast


def _dense(value: torch.Tensor) -> torch.Tensor:
    """A tensor on the CPU that every elementwise op takes: not sparse, and of no 8-bit float."""
    value = to_strided(value)
    eight_bits = value.is_floating_point() and value.element_size() == 1
    return (value.float() if eight_bits else value).cpu()


def _may_be(given: torch.Tensor, right: Any) -> bool:
    """Whether a tensor may hold the same values in another layout."""
    return (
        is_plain(right)
        and right.numel() == given.numel()
        and right.is_floating_point()
        and given.is_floating_point()
        and given.layout is right.layout is torch.strided
    )


def _sort_values(right: torch.Tensor, held: torch.Tensor) -> torch.Tensor:
    return right.detach().to(held.device, held.dtype).flatten().sort().values


def _is_overwritten(value: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether a value was corrected in place: then its base is also correct."""
    if value.layout is not torch.strided or value.dtype != right.dtype:
        return False
    try:
        value.copy_(right)
    except RuntimeError:  # elements share memory: it was expanded, or unfolded
        return False
    return True


def _is_noise(own: Error, noise: Noise, forced: torch.Tensor, known: Known) -> bool:
    """Whether rounding of its inputs explains an error, in an op that makes much of it."""
    if own.odd or not forced.is_floating_point() or noise is QUANTIZED:
        return False
    moved = known.movement(max(epsilon(forced), epsilon(known.value)))
    return moved is not None and is_rounding(own, moved, noise)
