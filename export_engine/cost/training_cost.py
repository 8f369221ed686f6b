"""The cost of a training step, from its joint graph: each pass, what is saved, the optimizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from export_engine.cost.amount import Amount
from export_engine.cost.op_cost import NOTHING
from export_engine.cost.program_cost import OpCost, ProgramCost, cost_of
from export_engine.plain_errors import WrongArgument
from export_engine.record import Record

_PASS = "pass"
_FORWARD = "forward"
_OPTIMIZERS = {"sgd": (2, 0), "momentum": (4, 1), "adam": (14, 2), "adamw": (16, 2)}
"""FLOPs for each parameter, and tensors of its size that are kept; torch.optim, `foreach=False`."""
_STATE_WIDTH = 4


class PassCost(NamedTuple):
    """The cost of one pass of a step."""

    flops: Amount
    moved: Amount
    """Bytes that are read and written."""


class Saved(NamedTuple):
    """A tensor that the forward pass makes and the backward pass reads."""

    node: int
    name: str
    bytes: Amount
    item: int = 0
    """Which of the op's results it is."""


class Checkpointing(NamedTuple):
    """The effect of checkpointing a module: recomputing its tensors in the backward pass."""

    module: str
    saved: Amount
    """Bytes that need not be kept."""
    flops: Amount
    """FLOPs that are computed again: its forward pass."""


class OptimizerCost(NamedTuple):
    """The cost of an optimizer step over all parameters."""

    name: str
    flops: int
    state: int
    """Bytes that it keeps from step to step, in float32."""
    gradients: int
    """Bytes of the gradients, in the dtypes of the parameters."""


class TrainingCost:
    """The cost of a training step, as formulas of its sizes."""

    def __init__(self, record: Record) -> None:
        """Make one; `training_cost_of` does.

        Args:
            record: of a joint graph.

        Raises:
            WrongArgument: the graph is of no training step.
        """
        overlay = next(
            (overlay for overlay in record.overlays if overlay.name == _PASS),
            None,
        )
        if overlay is None:
            raise WrongArgument(
                "The graph has no backward pass. Trace one: explorer.explore(loss_fn, "
                "(model, x, y), joint=True)."
            )
        self._record = record
        self._graph = record.graphs[0]
        self._cost: ProgramCost = cost_of(record)
        passes = zip(overlay.nodes, overlay.texts, strict=True)
        self._forward = {node for node, text in passes if text == _FORWARD}
        self._all = {*overlay.nodes}
        self.forward = _sum([op for op in self._cost.ops if op.node in self._forward])
        self.backward = _sum([op for op in self._cost.ops if op.node not in self._forward])
        self.saved: tuple[Saved, ...] = tuple(self._find_saved())

    @property
    def saved_bytes(self) -> Amount:
        """Bytes of all tensors that are kept for the backward pass, beside inputs and weights."""
        total = NOTHING
        for item in self.saved:
            total = total + item.bytes
        return total

    def checkpointing(self, module: str) -> Checkpointing:
        """The memory that checkpointing a module saves, and the FLOPs that it recomputes.

        Args:
            module: its path, `layers.0`.

        Raises:
            WrongArgument: no op of the forward pass is in a module of this path.
        """
        inside = {node for node in self._forward if self._is_in(node, module)}
        if not inside:
            raise WrongArgument(f"No op of the forward pass is in a module {module!r}.")
        outside = {
            owner
            for node in self._forward - inside
            for number in self._inputs(node)
            for owner in self._cost.owners.get(number, ())
        }
        saved = NOTHING
        for tensor in self.saved:
            if tensor.node in inside and (tensor.node, tensor.item) not in outside:
                saved = saved + tensor.bytes
        again = [op for op in self._cost.ops if op.node in inside]
        return Checkpointing(module, saved, _sum(again).flops)

    def optimizer(self, name: str = "adamw") -> OptimizerCost:
        """The cost of an optimizer step.

        Args:
            name: `sgd`, `momentum`, `adam` or `adamw`.

        Raises:
            WrongArgument: there is no such optimizer.
        """
        if name not in _OPTIMIZERS:
            text = ", ".join(_OPTIMIZERS)
            raise WrongArgument(f"There is no optimizer {name!r}. Available: {text}.")
        flops, kept = _OPTIMIZERS[name]
        count = self._cost.parameters
        return OptimizerCost(name, flops * count, kept * count * _STATE_WIDTH, self._cost.weights)

    def at(self, amount: Amount, **sizes: int) -> int:
        """The value of one of its amounts; a size that is not given is that of the example."""
        chosen = self._cost.choose_sizes(sizes)
        return amount.at([chosen[name] for name in self._cost.symbols])

    def _find_saved(self) -> Sequence[Saved]:
        """The tensors that ops of the backward pass read, also through views."""
        sizes = {(held.node, held.item): held.bytes for held in self._cost.held}
        names = self._record.strings
        read = {
            owner
            for node in self._all - self._forward
            for number in self._inputs(node)
            for owner in self._cost.owners.get(number, ())
            if owner[0] in self._forward
        }
        items = [
            Saved(node, names[self._graph.name[node]], sizes.get((node, item)) or NOTHING, item)
            for node, item in sorted(read)
        ]
        return [item for item in items if item.bytes]

    def _inputs(self, node: int) -> Sequence[int]:
        starts = self._graph.inputs.starts
        return self._graph.inputs.items[starts[node] : starts[node + 1]]

    def _is_in(self, node: int, module: str) -> bool:
        scope = self._graph.scope[node]
        path = self._record.scopes[scope].path if scope >= 0 else ""
        # A path may begin with the argument of the loss function that the model is: `model.`.
        return f".{module}." in f".{path}."


def training_cost_of(record: Record) -> TrainingCost:
    """The cost of a training step. Raises WrongArgument where the graph is of none."""
    return TrainingCost(record)


def _sum(ops: Sequence[OpCost]) -> PassCost:
    flops, moved = NOTHING, NOTHING
    for op in ops:
        flops = flops + (op.cost.flops or NOTHING)
        moved = moved + (op.cost.read or NOTHING) + (op.cost.written or NOTHING)
    return PassCost(flops, moved)
