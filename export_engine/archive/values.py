"""What a node of an archive produces, as ValueTypes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import msgspec

from export_engine.archive import bounds, schema
from export_engine.archive.errors import ArchiveError
from export_engine.archive.symbols import Symbols
from export_engine.describe import Table
from export_engine.record import Size, ValueType

_LONGEST_TEXT = 80


@dataclass(frozen=True)
class CustomObject:
    """A ScriptObject, or another object that only the program knows."""


@dataclass(frozen=True)
class Symbolic:
    """A number that a program computes with."""

    kind: str
    """`int`, `float` or `bool`."""
    size: schema.Size


Value = schema.TensorMeta | Symbolic | CustomObject | tuple[Any, ...] | int | float | str | None
"""What is known of a node's value; None stands for one of which nothing is."""


class Values:
    """The value types of one Record."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self.table: Table[Hashable, ValueType] = Table()
        self._unknown = self._number(ValueType("unknown", ""))
        self._tensors: dict[bytes, int] = {}

    def number(self, value: Value) -> int:
        """The number of a value's type."""
        if isinstance(value, schema.TensorMeta):
            return self._tensor(value)
        if value is None:
            return self._unknown
        if isinstance(value, tuple):
            items = [self.none() if item is None else self.number(item) for item in value]
            text = ", ".join(self.table.entries[item].text or "?" for item in items)
            return self._number(ValueType("tuple", f"({_cut(text)})", items=items))
        return self._number(self._scalar(value))

    def none(self) -> int:
        """The number of the type of Python's None."""
        return self._number(ValueType("none", "None"))

    def entry(self, number: int) -> ValueType:
        """A type by its number."""
        return self.table.entries[number]

    def sizes(self, number: int) -> list[Size]:
        """The sizes of a tensor type, or the one value of a number."""
        entry = self.entry(number)
        if entry.kind == "tensor":
            return entry.shape
        return [] if entry.value is None else [entry.value]

    def _tensor(self, meta: schema.TensorMeta) -> int:
        try:
            key = msgspec.msgpack.encode(meta)
        except OverflowError as error:
            raise ArchiveError("It has a tensor with a number of more than 64 bits.") from error
        known = self._tensors.get(key)
        if known is not None:
            return known
        if max(len(meta.sizes), len(meta.strides)) > bounds.RANK:
            raise ArchiveError(f"It has a tensor of more than {bounds.RANK} dims.")
        dtype = schema.DTYPES.get(meta.dtype, f"unknown dtype {meta.dtype}")
        layout = schema.LAYOUTS.get(meta.layout, f"unknown layout {meta.layout}")
        strided = layout == "strided"
        shape = [self._symbols.size(size) for size in meta.sizes]
        stride = [self._symbols.size(step) for step in meta.strides] if strided else []
        text = f"{schema.SHORT_DTYPES.get(dtype, dtype)}[{', '.join(map(str, shape))}]"
        entry = ValueType(
            "tensor",
            text if strided else f"{layout} {text}",
            dtype=dtype,
            shape=shape,
            stride=stride,
            device=device_text(meta.device),
            layout=layout,
            requires_grad=meta.requires_grad,
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
            plain = {"bool": size.as_bool, "float": size.as_float}.get(value.kind)
            if plain is not None and size.as_expr is None:
                return ValueType(value.kind, f"{value.kind} {plain}")  # type: ignore[arg-type]
            found = self._symbols.size(size)
            return ValueType(value.kind, f"{value.kind} {found}", value=found)  # type: ignore[arg-type]
        match value:
            case bool():
                return ValueType("bool", f"bool {value}")
            case int():
                return ValueType("int", f"int {value}", value=value)
            case float():
                return ValueType("float", f"float {value}")
            case str():
                return ValueType("str", "str")
        return ValueType("object", "CustomObjArgument")

    def _number(self, entry: ValueType) -> int:
        key = (entry.kind, entry.text, tuple(entry.items))
        known = self.table.find(key)
        return known if known is not None else self.table.add(key, entry)


def device_text(device: schema.Device) -> str:
    """`cuda:0`, as torch prints it."""
    kind = device.type if device.type.isidentifier() else repr(device.type)
    text = kind[: bounds.TEXT]
    return text if device.index is None else f"{text}:{device.index}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
