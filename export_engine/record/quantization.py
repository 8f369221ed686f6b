"""How a program is quantized, as the Record has it: what is stored and computed in fewer bits."""

from __future__ import annotations

from typing import Literal

import msgspec


class QuantizedTensor(msgspec.Struct, frozen=True, kw_only=True):
    """A weight, an input or the output of an op, in fewer bits."""

    role: Literal["weight", "input", "output"]
    node: int
    """The node with the quantized value; -1 if it is not known."""
    name: str
    """For a weight, where it lives in the module, `fc.weight`; else the node's name."""
    dtype: str
    """Without the `torch.` prefix: `int8`."""
    bits: int
    """Bits of the range of quantized values: 4 for -8 to 7, even if stored as int8."""
    low: int
    """Least quantized value; 0, as `high`, for a floating-point dtype or where it is not known."""
    high: int
    granularity: Literal["tensor", "channel", "group", "token", ""]
    """The granularity of a scale; empty if it is not known."""
    axis: int = -1
    """Of `channel`."""
    group: int = 0
    """Of `group`: so many elements have one scale."""
    scales: int = 1
    """How many scales there are; 0 where they depend on the inputs."""
    scale: list[float] = []
    """The least and the greatest; empty where they depend on the inputs or are not at hand."""
    zero_point: list[int] = []
    """The least and the greatest; empty where there is none, or as `scale`."""
    dynamic: bool = False
    """Whether each run chooses its scales."""
    bytes: int = 0
    """For a weight: quantized values, scales and zero points."""
    float_bytes: int = 0
    """For a weight: what it takes in its floating-point dtype."""


class QuantizedLayer(msgspec.Struct, frozen=True, kw_only=True):
    """An op of the main graph that reads or gives quantized values."""

    node: int
    folded: list[int]
    """Nodes that only quantize, dequantize or scale for it."""
    result: int
    """Of `folded` or the op itself, the one with the layer's floating-point value."""
    scheme: str
    """`int8 weights`, `int8 weights, dynamic int8 inputs`."""
    tensors: list[QuantizedTensor]


class FloatOp(msgspec.Struct, frozen=True, kw_only=True):
    """An op that is usually quantized, and is not here."""

    node: int
    why: str
    bytes: int
    """Of its weight."""


class Quantization(msgspec.Struct, frozen=True, kw_only=True):
    """The quantized and the float parts of a program's main graph."""

    layers: list[QuantizedLayer]
    in_float: list[FloatOp]
    bytes: int
    """Bytes of the parameters, buffers and constants that ops read."""
    float_bytes: int
    """The same, with every quantized weight in its floating-point dtype."""
    unread_bytes: int
    """Of those that the program holds and no op reads."""
