"""The ops in XNNPACK's payload: schema runtime_schema.fbs of ExecuTorch's XNNPACK backend, 1.5."""

from __future__ import annotations

from export_engine.pte.flatbuffer import Buffer, PteError, Table

_MAGIC = b"XH00"
_HEADER = 30
_OPS = (
    *("Add", "FullyConnected", "Softmax", "Sigmoid", "StaticTranspose", "Clamp", "Conv2d"),
    *("Div", "StaticResizeBilinear2D", "StaticConstantPad", "AvgPooling2d", "Minimum"),
    *("DepthwiseConv2d", "MaxPooling2d", "Multiply", "Subtract", "Floor", "Convert"),
    *("GlobalAvgPooling2d", "StaticReshape", "ArgMaxPooling2d", "SquareRoot", "Ceiling"),
    *("Hardswish", "LeakyReLU", "Maximum", "Negate", "Square", "ELU", "Abs", "PReLU"),
    *("Concatenate2", "Concatenate3", "Concatenate4", "StaticSlice"),
    *("ScaledDotProductAttention", "BatchMatrixMultiply", "Concatenate5", "ConvTranspose2d"),
    *("ReciprocalSquareRoot", "Log", "Gelu", "Tanh", "Exp", "Sin", "Copy", "Cos"),
)
"""In the order of the schema's union, which starts at 1."""


def read_xnnpack_ops(payload: memoryview) -> list[str]:
    """The ops of a payload, in order: `XNNConv2d`; none where it cannot be read."""
    if len(payload) < _HEADER or bytes(payload[4:8]) != _MAGIC:
        return []
    start = int.from_bytes(payload[10:14], "little")
    size = int.from_bytes(payload[14:18], "little")
    try:
        return Buffer(payload[start : start + size]).root().tables(1, _op)
    except PteError:
        return []


def _op(table: Table) -> str:
    number = table.number(0, "<B")
    return f"XNN{_OPS[number - 1]}" if 0 < number <= len(_OPS) else "unknown"
