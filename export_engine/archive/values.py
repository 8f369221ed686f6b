"""What a node of an archive produces, as ValueTypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from export_engine.archive import limits, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.symbols import Symbols
from export_engine.describe import ValueTable, python_type, tensor_type
from export_engine.record import ValueType


@dataclass(frozen=True)
class CustomObject:
    """A ScriptObject, or another opaque object."""


@dataclass(frozen=True)
class Symbolic:
    """A number that a program computes with."""

    kind: str
    """`int`, `float` or `bool`."""
    size: schema.Size


Value = schema.TensorMeta | Symbolic | CustomObject | tuple[Any, ...] | int | float | str | None
"""The metadata of a node's value; None if there is none."""


class Values(ValueTable[Value]):
    """The value types of one Record."""

    def __init__(self, symbols: Symbols) -> None:
        super().__init__()
        self._symbols = symbols
        self._tensors: dict[bytes, int] = {}

    def number(self, value: Value) -> int:
        """The number of a value's type."""
        if isinstance(value, schema.TensorMeta):
            return self._tensor(value)
        if value is None:
            return self._unknown
        if isinstance(value, tuple):
            return self._tuple(value)
        return self._number(self._scalar(value))

    def _tensor(self, meta: schema.TensorMeta) -> int:
        try:
            key = msgspec.msgpack.encode(meta)
        except OverflowError as error:
            raise ArchiveError("It has a tensor with a number of more than 64 bits.") from error
        known = self._tensors.get(key)
        if known is not None:
            return known
        if max(len(meta.sizes), len(meta.strides)) > limits.RANK:
            raise ArchiveError(f"It has a tensor of more than {limits.RANK} dims.")
        dtype = schema.DTYPES.get(meta.dtype, f"unknown dtype {meta.dtype}")
        layout = schema.LAYOUTS.get(meta.layout, f"unknown layout {meta.layout}")
        steps = meta.strides if layout == "strided" else []
        entry = tensor_type(
            dtype,
            schema.SHORT_DTYPES.get(dtype, dtype),
            [self._symbols.size(size) for size in meta.sizes],
            [self._symbols.size(step) for step in steps],
            device_text(meta.device),
            layout,
            meta.requires_grad,
        )
        number = self._tensors[key] = self._interned(entry)
        return number

    def _interned(self, entry: ValueType) -> int:
        key = msgspec.msgpack.encode(entry)
        known = self.table.find(key)
        return known if known is not None else self.table.add(key, entry)

    def _scalar(self, value: Any) -> ValueType:
        if isinstance(value, Symbolic):
            size = value.size
            known: object = size.as_bool if value.kind == "bool" else None
            if value.kind == "float" and size.as_float is not None:
                known = float(size.as_float)
            if known is not None and size.as_expr is None:
                return ValueType(value.kind, f"{value.kind} {known}")  # type: ignore[arg-type]
            found = self._symbols.size(size)
            return ValueType(value.kind, f"{value.kind} {found}", value=found)  # type: ignore[arg-type]
        return python_type(value) or ValueType("object", "CustomObjArgument")


def device_text(device: schema.Device) -> str:
    """`cuda:0`, as torch prints it."""
    kind = device.type if device.type.isidentifier() else repr(device.type)
    text = kind[: limits.TEXT]
    return text if device.index is None else f"{text}:{device.index}"
