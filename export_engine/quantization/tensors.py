"""What is known of each quantized tensor of a layer: dtype, bits, scales, granularity, bytes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Literal

from export_engine.quantization.folding import Fold
from export_engine.quantization.ops import Ops, dequantizes, is_narrow, quantizes
from export_engine.record import QuantizedTensor, ValueType

HeldTensor = Callable[[str, str], "tuple[float, float] | None"]
"""The least and the greatest element of a tensor that the program holds, by its place in the module
and, of a tensor subclass, the name of an inner tensor; None where it is not at hand."""

Granularity = Literal["tensor", "channel", "group", "token", ""]
_BITS = re.compile(r"(\d+)")


class Tensors:
    """Describes the quantized tensors of layers."""

    def __init__(self, ops: Ops, held: HeldTensor) -> None:
        """Make one.

        Args:
            ops: the graph.
            held: what is at hand of tensors that the program holds.
        """
        self._ops = ops
        self._held = held

    def of(self, fold: Fold) -> list[QuantizedTensor]:
        """Those of a layer: weights, inputs, outputs."""
        weights = [self._weight(fold, weight) for weight in fold.weights]
        inputs = [self._activation("input", source) for source in fold.inputs]
        return [*weights, *inputs, *(self._activation("output", output) for output in fold.outputs)]

    def _activation(self, role: Literal["input", "output"], node: int) -> QuantizedTensor:
        ops = self._ops
        arguments = ops.arguments(node)
        quantized = ops.inputs(node)[0] if dequantizes(ops.label(node)) else node
        source = quantized
        if quantizes(ops.label(quantized)) and ops.inputs(quantized):
            source = ops.inputs(quantized)[0]
        kind = ops.type(quantized)
        low, high = _range(arguments)
        granularity, axis, group = self._granularity(node, arguments, ops.type(source))
        if granularity == "channel" and "block_size" in arguments:
            granularity, axis = "token", -1  # one scale a row: of activations, a row is a token
        scale = self._numbers(node, arguments.get("scale", ""))
        zeros = self._numbers(node, arguments.get("zero_point", "")) or []
        return QuantizedTensor(
            role=role,
            node=quantized,
            name=ops.name(source),
            dtype=kind.dtype if kind else "",
            bits=_bits(kind, low, high),
            low=low,
            high=high,
            granularity=granularity,
            axis=axis,
            group=group,
            scales=0 if scale is None else 1,
            scale=scale or [],
            zero_point=[int(zero) for zero in zeros],
            dynamic=scale is None,
        )

    def _weight(self, fold: Fold, node: int) -> QuantizedTensor:
        ops = self._ops
        leaves = ops.leaves(node)
        through = self._dequantizing(node)
        numbers = (
            ops.leaves(ops.inputs(through)[0]) if through >= 0 and ops.inputs(through) else leaves
        )
        narrow = [number for number in numbers if is_narrow(ops.type(number))] or numbers or leaves
        data = max(narrow, key=lambda each: _numel(ops.type(each)))
        entries = ops.arguments(through) if through >= 0 else {}
        scales, zeros = self._parameters(fold, data, through, entries, leaves)
        stored = ops.type(data)
        floats = self._float_type(fold, data, through)
        low, high = _range(entries)
        count = _numel(ops.type(scales)) if scales >= 0 else len(entries.get("scale", "") and "1")
        granularity, axis, group = self._granularity(through, entries, floats)
        if not entries:
            granularity, axis, group = _by_scales(ops.type(scales), floats)
        own = tensor_bytes(stored) + sum(
            tensor_bytes(ops.type(number)) for number in (scales, zeros)
        )
        bits = _bits(stored, low, high)
        if _numel(floats) > _numel(stored) > 0:
            bits = max(bits * _numel(stored) // _numel(floats), 1)  # several to a byte
        return QuantizedTensor(
            role="weight",
            node=data,
            name=ops.held[ops.holder(data)].target,
            dtype=stored.dtype if stored else "",
            bits=bits,
            low=low,
            high=high,
            granularity=granularity,
            axis=axis,
            group=group,
            scales=count,
            scale=self._values(through, entries.get("scale", ""), scales),
            zero_point=[
                int(value) for value in self._values(through, entries.get("zero_point", ""), zeros)
            ],
            bytes=own,
            float_bytes=tensor_bytes(floats),
        )

    def _dequantizing(self, node: int) -> int:
        """The op that dequantizes a weight, at a constant or before it; -1 for none."""
        waiting = [node]
        while waiting:
            number = waiting.pop()
            if dequantizes(self._ops.label(number)):
                return number
            if not self._ops.is_leaf(number):
                waiting += self._ops.inputs(number)
        return -1

    def _parameters(
        self, fold: Fold, data: int, through: int, given: dict[str, str], leaves: Sequence[int]
    ) -> tuple[int, int]:
        """The tensors with a weight's scales and zero points; -1 for none."""
        ops = self._ops
        if through >= 0:
            numbers = [
                ops.node_in(through, given.get(text, "")) for text in ("scale", "zero_point")
            ]
            return self._leaf(numbers[0]), self._leaf(numbers[1])
        beside = {
            ops.positional(user)[1].strip("'"): user
            for user in ops.users(ops.holder(data))
            if ops.is_inner(user) and len(ops.positional(user)) > 1
        }
        if beside:
            return beside.get("scale", -1), beside.get("zero_point", -1)
        scaled = [node for node in sorted(fold.nodes) if ops.label(node) in ("mul", "mul_")]
        read = [at for number in [fold.node, *scaled] for at in ops.inputs(number)]
        near = [*leaves, *(leaf for at in read if at in ops.constant for leaf in ops.leaves(at))]
        floats = [number for number in near if not is_narrow(ops.type(number)) and number != data]
        return (floats[0] if floats else -1), -1

    def _leaf(self, node: int) -> int:
        """The held tensor that a constant is a view of; -1 for none."""
        if node < 0 or node not in self._ops.constant:
            return -1
        return next(iter(self._ops.leaves(node)), -1)

    def _float_type(self, fold: Fold, data: int, through: int) -> ValueType | None:
        """A weight's bytes in float."""
        ops = self._ops
        if through >= 0:
            return ops.type(through)
        if ops.is_inner(data):
            return ops.type(ops.holder(data))
        stored, result = ops.type(data), ops.type(fold.result)
        if stored is None or result is None:
            return result
        return ValueType(kind="tensor", text="", dtype=result.dtype, shape=stored.shape)

    def _granularity(
        self, node: int, given: dict[str, str], kind: ValueType | None
    ) -> tuple[Granularity, int, int]:
        """The granularity of a scale, its axis, and its number of elements."""
        label = self._ops.label(node) if node >= 0 else ""
        if "block_size" in given:
            return _of_blocks(given["block_size"], kind)
        if "group_size" in given or label.endswith("per_channel_group"):
            size = given.get("group_size", "")
            return "group", -1, int(size) if size.isdecimal() else 0
        if "axis" in given or label.endswith("per_channel"):
            axis = given.get("axis", "")
            return "channel", int(axis) if axis.lstrip("-").isdecimal() else -1, 0
        if label.endswith("per_token"):
            return "token", -1, 0
        return ("tensor" if label else ""), -1, 0

    def _values(self, node: int, text: str, leaf: int) -> list[float]:
        """The least and the greatest of a weight's scales."""
        return (self._range_of(leaf) if leaf >= 0 else self._numbers(node, text)) or []

    def _numbers(self, node: int, text: str) -> list[float] | None:
        """An argument's value, `0.02`, or a tensor's; None if only a run shows it."""
        number = _number(text)
        if number is not None:
            return [number, number]
        at = self._ops.node_in(node, text) if node >= 0 and text else -1
        if at < 0:
            return []
        if at not in self._ops.constant:
            return None
        return self._range_of(self._leaf(at)) or []

    def _range_of(self, leaf: int) -> list[float] | None:
        ops = self._ops
        if leaf < 0:
            return None
        inner = ops.positional(leaf)[1].strip("'") if ops.is_inner(leaf) else ""
        pair = self._held(ops.held[ops.holder(leaf)].target, inner)
        return list(pair) if pair else None


def _range(given: dict[str, str]) -> tuple[int, int]:
    """Least and greatest quantized value; zeros where they are not given."""
    low, high = (_number(given.get(text, "")) for text in ("quant_min", "quant_max"))
    if low is None or high is None or not low < high <= 2**31:
        return 0, 0
    return int(low), int(high)


def _bits(kind: ValueType | None, low: int, high: int) -> int:
    if low < high:
        return (high - low).bit_length()
    match = _BITS.search(kind.dtype) if kind else None
    return int(match[1]) if match else 0


def _of_blocks(text: str, kind: ValueType | None) -> tuple[Granularity, int, int]:
    """Of torchao's block size: how many elements along each axis share a scale."""
    blocks = [int(value) for value in re.findall(r"\d+", text)]
    shape = list(kind.shape) if kind else []
    if len(blocks) != len(shape):
        return "", -1, 0
    whole = [block == size for block, size in zip(blocks, shape, strict=True)]
    ones = [at for at, block in enumerate(blocks) if block == 1 and shape[at] != 1]
    if all(whole):
        return "tensor", -1, 0
    parts = [at for at, full in enumerate(whole) if not full and at not in ones]
    if parts:
        return "group", parts[-1], blocks[parts[-1]]
    if len(ones) == 1 and ones[0] == 0 and len(shape) > 1 and isinstance(shape[0], int):
        return "channel", 0, 0
    return "token", -1, 0


def _by_scales(scales: ValueType | None, floats: ValueType | None) -> tuple[Granularity, int, int]:
    """The granularity of scales, from their number."""
    count, numel = _numel(scales), _numel(floats)
    if not count or not numel or floats is None:
        return "", -1, 0
    if count == 1:
        return "tensor", -1, 0
    if count == floats.shape[0]:
        return "channel", 0, 0
    last = floats.shape[-1]
    if len(floats.shape) == 2 and count == last:
        return "channel", 1, 0
    if numel % count == 0 and isinstance(last, int) and last % (numel // count) == 0:
        return "group", len(floats.shape) - 1, numel // count
    return "", -1, 0


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _numel(kind: ValueType | None) -> int:
    """How many elements; 0 where a size is not a number."""
    if kind is None or kind.kind != "tensor":
        return 0
    sizes = [item for item in kind.shape if isinstance(item, int)]
    return math.prod(sizes) if len(sizes) == len(kind.shape) else 0


def _itemsize(kind: ValueType | None) -> float:
    match = _BITS.search(kind.dtype) if kind else None
    return int(match[1]) / 8 if match else 0


def tensor_bytes(kind: ValueType | None) -> int:
    """Bytes of a tensor; 0 if a size is not a number."""
    return math.ceil(_numel(kind) * _itemsize(kind))
