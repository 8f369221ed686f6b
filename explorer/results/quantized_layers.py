"""Rows of the tables of a quantized program."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from export_engine.record import QuantizedTensor


class Layer(NamedTuple):
    """One quantized op."""

    name: str
    """Of its node."""
    op: str
    """`linear`; of a lowered one what it became, `_int_mm`."""
    module: str
    """The module that it is in; empty where tracing recorded none."""
    scheme: str
    """`int8 weights, dynamic int8 inputs`."""
    tensors: tuple[QuantizedTensor, ...]
    result: str
    """The node that has its floating-point value."""

    @property
    def weight(self) -> QuantizedTensor | None:
        """Its weight, if that is quantized."""
        return next((tensor for tensor in self.tensors if tensor.role == "weight"), None)


class LeftInFloat(NamedTuple):
    """An op that is usually quantized, and is not."""

    name: str
    op: str
    module: str
    why: str
    bytes: int
    """Of its weight."""


class LayerError(NamedTuple):
    """What quantizing one layer costs against the float program."""

    layer: Layer
    own: float
    """Norm of the error that the layer adds by itself, over the norm of the float value."""
    relative: float
    """The same of the error that its value has in the quantized program."""
    sqnr: float
    """Signal to quantization noise of that value, in dB."""
