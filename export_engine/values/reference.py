"""The run that is right, walked as far as the run in question asks for its values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.fx import Node
from torch.fx.node import map_arg

from export_engine.record import Record
from export_engine.torch_internals import OpOverload, pytree, writes_to_arguments
from export_engine.values.error import Error, error_of
from export_engine.values.steps import Steps, is_plain


class Known(NamedTuple):
    """What is known of an op in the run that is right."""

    value: Any
    inputs: list[Any]
    node: Node
    steps: Steps

    def movement(self, eps: float) -> Error | None:
        """How far the op's value moves when its inputs are rounded; None where that is not known.

        A sum that cancels moves by much more than its inputs: so much is noise.

        Args:
            eps: of the dtype that they are rounded to.
        """
        op = source_of(self.node)
        if not isinstance(op.target, OpOverload) or writes_to_arguments(op.target):
            return None
        if torch.Tag.nondeterministic_seeded in op.target.tags or not is_plain(self.value):
            return None
        chance = torch.Generator().manual_seed(0)
        rounded = self._run_op([_perturb(value, eps, chance) for value in self.inputs])
        told = self.steps.known is not None  # torch gives another value here
        return error_of(rounded, self._run_op(self.inputs) if told else self.value)

    def _run_op(self, inputs: list[Any]) -> Any:
        """torch's result for such inputs of the op."""
        op = source_of(self.node)
        entries = dict(zip(op.all_input_nodes, inputs, strict=True))
        args, kwargs = map_arg((op.args, op.kwargs), lambda node: entries[node])
        result = self.steps.call_function(op.target, args, kwargs)
        return result if op is self.node else result[self.node.args[1]]


def _perturb(value: Any, eps: float, chance: torch.Generator) -> Any:
    if not is_plain(value) or not value.is_floating_point() or value.layout is not torch.strided:
        return value
    by = torch.rand(value.shape, generator=chance, dtype=torch.float64, device="cpu") * 2 - 1
    return (value.double().cpu() * (1 + eps * by)).to(value.device, value.dtype)


class Reference:
    """Values of the run that is right, kept until their partners ask for them."""

    def __init__(
        self,
        walk: Iterator[tuple[int, Node, Any]],
        steps: Steps,
        pairs: dict[int, int],
        writes: bool,
    ) -> None:
        """Make one.

        Args:
            walk: through the run.
            steps: what runs it.
            pairs: per node of the run in question, its partner here.
            writes: whether values must be copied, since the program writes to tensors.
        """
        self._walk = walk
        self._steps = steps
        self._kept = copy_tensor if writes else _same
        self._waited = set(pairs.values())
        self._pending: dict[int, Known] = {}
        self._several: dict[str, list[Any]] = {}
        """The inputs of the last op that has several results."""
        self._output: list[tuple[str, Any]] = []

    def value(self, node: int) -> Known | None:
        """A node's value and inputs; None where it is not an op."""
        if node < 0:
            return None
        while node not in self._pending:
            step = next(self._walk, None)
            if step is None:
                return None
            number, at, value = step
            if self._steps.calls is not None and number not in self._waited:
                self._steps.calls.pop(at.name, None)
            several = isinstance(value, (tuple, list))
            if at.op == "call_function" and (several or number in self._waited):
                inputs = [self._kept(self._steps.env.get(node)) for node in at.all_input_nodes]
                if several:  # what picks one of its results is given the same
                    self._several = {at.name: inputs}
                inputs = self._several.get(source_of(at).name, inputs)
            if at.op == "call_function" and number in self._waited:
                self._pending[number] = Known(self._kept(value), inputs, at, self._steps)
            if at.op == "output":
                self._output = output_of(at, self._steps)
            if at.op != "call_function" and number == node:
                return None
        return self._pending.pop(node)

    def output(self) -> list[tuple[str, Any]]:
        """The graph's outputs; it is walked to its end. See `output_of`."""
        for _, at, _ in self._walk:
            if at.op == "output":
                self._output = output_of(at, self._steps)
        return self._output


def output_of(node: Node, steps: Steps) -> list[tuple[str, Any]]:
    """A graph's outputs in order, at its last node: the nodes' names and values."""
    leaves = pytree.tree_leaves(node.args[0])
    return [
        (leaf.name, steps.env.get(leaf)) if isinstance(leaf, Node) else ("", leaf)
        for leaf in leaves
    ]


def writes(record: Record) -> bool:
    """Whether an op writes to what it is given: then values are kept as they are now."""
    return any(target.mutates for target in record.targets)


def copy_tensor(value: Any) -> Any:
    """A copy of a tensor; anything else unchanged."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _same(value: Any) -> Any:
    return value


def source_of(node: Node) -> Node:
    """The op that a node picks a result of; itself where it picks none."""
    if getattr(node.target, "__name__", "") == "getitem" and node.all_input_nodes:
        return node.all_input_nodes[0]
    return node
