"""Ops that are usually quantized and are not, and why, as far as the program tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from export_engine.quantization.ops import COMPUTE, Ops
from export_engine.quantization.tensors import tensor_bytes
from export_engine.record import FloatOp, QuantizedLayer

_FLOATS = ("float", "bfloat", "complex")


def ops_in_float(ops: Ops, layers: Sequence[QuantizedLayer]) -> list[FloatOp]:
    """Convolutions, linears, embeddings and products that read nothing quantized.

    Args:
        ops: the graph.
        layers: what is quantized.
    """
    taken = {layer.node for layer in layers} | {at for layer in layers for at in layer.folded}
    kinds: dict[str, list[QuantizedLayer]] = defaultdict(list)
    for layer in layers:
        kinds[kind_of(ops, layer.node)].append(layer)
    return [
        FloatOp(node=node, why=_why(ops, node, kinds), bytes=_weight_bytes(ops, node))
        for node in ops.calls()
        if ops.label(node) in COMPUTE and node not in taken and _is_float(ops, node)
    ]


def _is_float(ops: Ops, node: int) -> bool:
    kind = ops.type(node)
    return kind is None or kind.kind != "tensor" or kind.dtype.startswith(_FLOATS)


def kind_of(ops: Ops, node: int) -> str:
    """Convolution, linear, ..., whatever the op that it became: a linear may be an mm."""
    label = ops.label(node)
    if "conv" in label:
        return label.rstrip("123d")
    if "embedding" in label:
        return "embedding"
    if label in ("matmul", "bmm", "baddbmm", "einsum", "scaled_dot_product_attention"):
        return "linear" if _weight(ops, node) >= 0 else "product"
    return "linear" if _weight(ops, node) >= 0 else label


def _weight(ops: Ops, node: int) -> int:
    """The largest held tensor that an op reads; -1 for none."""
    held = [
        leaf for source in ops.inputs(node) if source in ops.constant for leaf in ops.leaves(source)
    ]
    return max(held, key=lambda each: tensor_bytes(ops.type(each)), default=-1)


def _weight_bytes(ops: Ops, node: int) -> int:
    weight = _weight(ops, node)
    return tensor_bytes(ops.type(weight)) if weight >= 0 else 0


def _why(ops: Ops, node: int, kinds: dict[str, list[QuantizedLayer]]) -> str:
    weight = _weight(ops, node)
    if weight < 0:
        some = kinds.get("product")
        return (
            "it multiplies two activations, and no quantizer was configured to observe their ranges"
            if some
            else "it multiplies two activations: there is no weight, and none of its inputs is "
            "quantized"
        )
    kind = kind_of(ops, node)
    dtype = ops.type(weight)
    shown = dtype.dtype if dtype else "floating-point"
    others = [user for user in ops.users(weight) if user != node and ops.is_call(user)]
    shared = [other for other in others if ops.label(other) in COMPUTE]
    if shared and kind != kind_of(ops, shared[0]):
        return f"its {shown} weight is shared with `{ops.name(shared[0])}`"
    alike = kinds.get(kind, [])
    if not alike:
        named = {"conv": "convolution", "linear": "linear op", "embedding": "embedding"}
        return f"no {named.get(kind, kind)} of the program is quantized: the config excludes them"
    group = _odd_group(ops, weight, alike)
    if group:
        return f"its rows have {group[1]} elements, not a multiple of the group of {group[0]}"
    return f"its {shown} weight was left out, while {len(alike)} like it are quantized"


def _odd_group(ops: Ops, weight: int, alike: Sequence[QuantizedLayer]) -> tuple[int, int] | None:
    """The group that others of its kind have, and the length of a row that it does not divide."""
    groups = {tensor.group for layer in alike for tensor in layer.tensors if tensor.group}
    kind = ops.type(weight)
    if len(groups) != 1 or kind is None or not kind.shape or not isinstance(kind.shape[-1], int):
        return None
    group = groups.pop()
    return (group, kind.shape[-1]) if kind.shape[-1] % group else None
