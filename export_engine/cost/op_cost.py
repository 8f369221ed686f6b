"""The cost of one op: FLOPs, and the bytes that it reads and writes."""

from __future__ import annotations

from typing import Literal, NamedTuple

from export_engine.cost.amount import Amount, scale
from export_engine.cost.flops import COUNTED_BY_TORCH, COUNTED_HERE, MOVES, POINTWISE, is_of_vectors
from export_engine.cost.inside_memory import inside_memory
from export_engine.cost.op_call import OpCall

Basis = Literal["torch", "rule", "pointwise", "moves", "view", "size", "nested", "unknown"]
"""How FLOPs were counted. `torch`: as `torch.utils.flop_counter` does; `rule`: by a rule of this
project; `pointwise`: one for each element; `moves`: none, values are moved or made; `view`: none,
not even bytes; `size`: arithmetic on sizes; `nested`: those of the graphs that it runs."""


class Cost(NamedTuple):
    """The cost of an op. An unknown cost is None, never 0."""

    basis: Basis
    flops: Amount | None
    read: Amount | None
    """Bytes of the tensors that it reads."""
    written: Amount | None
    """Bytes of the tensors that it makes or writes to."""
    scratch: Amount | None = None
    """Bytes that it allocates inside, and frees before it ends; None for none that is known."""


NOTHING = Amount(0)
FREE = Cost("view", NOTHING, NOTHING, NOTHING)
_LOOKUPS = frozenset(
    f"aten.{name}" for name in ("embedding", "index", "index_select", "gather", "take", "select")
)
"""Ops that read as much as they give, not all of the table that they look into."""
_DROPOUTS = frozenset(f"aten.{name}" for name in ("dropout", "feature_dropout", "alpha_dropout"))
"""Ops that return their input in eval mode, whatever their schema says."""
_LEVELS = "torch._functorch.predispatch."
_UNDECLARED = frozenset(
    [
        *(f"aten.{name}" for name in ("_unsafe_view", "broadcast_tensors", "meshgrid")),
        *(f"aten.unsafe_{name}" for name in ("chunk", "split", "split_with_sizes")),
        *(f"{_LEVELS}{name}" for name in ("_add_batch_dim", "_remove_batch_dim")),
    ]
)
"""Ops that return a view although their schema does not declare it."""
_CAST = frozenset(f"aten.{name}" for name in ("to", "type_as", "contiguous", "reshape", "flatten"))
"""Ops whose schema allows a view, and which copy where the type or the layout changes."""


def cost_of_op(call: OpCall, housekeeping: bool) -> Cost:
    """The cost of an op that runs no graph of its own.

    Args:
        call: the op, with its arguments.
        housekeeping: whether it only checks or computes sizes.
    """
    target = call.target
    if housekeeping or target.kind == "python":
        return Cost("size", NOTHING, NOTHING, NOTHING)
    if is_view(call):
        return FREE
    basis, flops = _flops(call)
    amounts = (flops, _read(call), _count_written(call), inside_memory(call))
    return Cost(basis, *(scale(amount, call.batch) for amount in amounts))


def is_view(call: OpCall) -> bool:
    """Whether the result shares the memory of an argument, and nothing is written."""
    if call.name in _DROPOUTS:
        return call.value("train", True) is False
    if call.name in _UNDECLARED or call.target.name in _UNDECLARED:
        return True
    if not call.target.aliases or call.target.mutates:
        return False
    return call.name not in _CAST or not _copies(call)


def _flops(call: OpCall) -> tuple[Basis, Amount | None]:
    name = call.name if call.target.kind != "higher_order" else call.target.name
    if name.endswith("_") and not name.endswith("__"):
        name = name[:-1]  # as the op that writes into new memory
    if name in COUNTED_BY_TORCH:
        basis: Basis = "rule" if is_of_vectors(call) else "torch"
        return _with_basis(basis, COUNTED_BY_TORCH[name](call))
    if name in COUNTED_HERE:
        return _with_basis("rule", COUNTED_HERE[name](call))
    if name in MOVES or (call.name in _CAST):
        return "moves", NOTHING
    if "pointwise" in call.target.tags or name in POINTWISE:
        return _with_basis("pointwise", call.elements(*call.results[:1]))
    return "unknown", None


def _with_basis(basis: Basis, flops: Amount | None) -> tuple[Basis, Amount | None]:
    return ("unknown", None) if flops is None else (basis, flops)


def _copies(call: OpCall) -> bool:
    """Whether an op that may give a view has to copy: another dtype, or a layout that it ends."""
    first = next((call.type_of(node) for node in call.inputs), None)
    result = call.result
    if first is None or first.kind != "tensor" or result.kind != "tensor":
        return False
    if (first.dtype, first.device) != (result.dtype, result.device):
        return True
    if call.name != "aten.contiguous" and first.shape == result.shape:
        return False  # as it is, whatever its layout
    return call.name in ("aten.contiguous", "aten.reshape", "aten.flatten") and not call.is_dense(
        first
    )


def _read(call: OpCall) -> Amount | None:
    tensors = [
        value_type for node in call.inputs for value_type in call.tensors_of(call.type_of(node))
    ]
    if call.name in _LOOKUPS:
        return call.bytes(*call.results, *tensors[1:])
    if call.name in ("aten.copy_", "aten.copy"):
        return call.bytes(*tensors[1:])
    return call.bytes(*tensors)


def _count_written(call: OpCall) -> Amount | None:
    targets = [
        node for argument in call.declared if argument.writes for node in call.nodes(argument.name)
    ]
    if not targets:
        return call.bytes(*call.results)
    return call.bytes(
        *(value_type for node in targets for value_type in call.tensors_of(call.type_of(node)))
    )
