"""A Record → the same with what is quantized in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from export_engine.quantization.folding import Fold, folds_of
from export_engine.quantization.in_float import ops_in_float
from export_engine.quantization.ops import Ops, dequantizes, is_narrow, label_of, quantizes
from export_engine.quantization.tensors import HeldTensor, Tensors, tensor_bytes
from export_engine.record import (
    Quantization,
    QuantizedLayer,
    QuantizedTensor,
    Record,
)


def with_quantization(record: Record, held: HeldTensor = lambda place, inner: None) -> Record:
    """The Record with what is quantized in its main graph, or with None where nothing is.

    Args:
        record: what to look at.
        held: what is at hand of tensors that the program holds.
    """
    quantization = _quantization(record, held) if record.graphs and _may_be(record) else None
    return msgspec.structs.replace(record, quantization=quantization)


def _may_be(record: Record) -> bool:
    """Whether an op or a tensor of the program may be of a quantized one: quickly told."""
    labels = [label_of(target) for target in record.targets]
    if any(quantizes(label) or dequantizes(label) for label in labels):
        return True
    return any(is_narrow(value_type) for value_type in record.types)


def _quantization(record: Record, held: HeldTensor) -> Quantization | None:
    ops = Ops(record)
    folds = folds_of(ops)
    if not folds:
        return None
    tensors = Tensors(ops, held)
    layers = [_layer(tensors, fold) for fold in folds]
    read, unread = _held_bytes(ops)
    every = [tensor for layer in layers for tensor in layer.tensors if tensor.role == "weight"]
    once = {
        quantized_tensor.node: quantized_tensor.float_bytes - quantized_tensor.bytes
        for quantized_tensor in every
    }
    return Quantization(
        layers=layers,
        in_float=ops_in_float(ops, layers),
        bytes=read,
        float_bytes=read + sum(once.values()),
        unread_bytes=unread,
    )


def _layer(tensors: Tensors, fold: Fold) -> QuantizedLayer:
    quantized_tensors = tensors.of(fold)
    return QuantizedLayer(
        node=fold.node,
        folded=sorted(fold.nodes - {fold.node}),
        result=fold.result,
        scheme=_scheme(quantized_tensors),
        tensors=quantized_tensors,
    )


def _scheme(tensors: Sequence[QuantizedTensor]) -> str:
    """`int8 weights, dynamic int8 inputs`."""
    counts = Counter(
        f"{'dynamic ' * tensor.dynamic}{_short(tensor)} {tensor.role}s"
        for tensor in tensors
        if tensor.role != "output" or len(tensors) == 1
    )
    return ", ".join(counts)


def _short(each: QuantizedTensor) -> str:
    """`int8`; `int4` where int8 holds fewer bits; `float8_e4m3fn`."""
    if "float" in each.dtype or not each.bits:
        return each.dtype
    return f"{'u' * each.dtype.startswith('u')}int{each.bits}"


def _held_bytes(ops: Ops) -> tuple[int, int]:
    """Bytes of held tensors that ops read, and of the others."""
    read = unread = 0
    for node, entry in ops.held.items():
        users = ops.users(node)
        inner = [user for user in users if ops.is_inner(user)]
        size = sum(tensor_bytes(ops.type(number)) for number in inner) if inner else entry.bytes
        read, unread = (read + size, unread) if users else (read, unread + size)
    return read, unread
