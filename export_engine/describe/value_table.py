"""The values of nodes as ValueTypes: tensors, numbers, and tuples of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import msgspec

from export_engine.describe.source import AnySize, NumberValue, ObjectValue, TensorValue, Value
from export_engine.describe.symbols import Symbols
from export_engine.describe.tables import Table
from export_engine.record import Size, ValueType
from export_engine.sizes import Expression

_LONGEST_TEXT = 80
SHORT_DTYPES = {
    "bfloat16": "bf16",
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz",
    "float8_e8m0fnu": "f8e8m0fnu",
    "float4_e2m1fn_x2": "f4e2m1fnx2",
    "complex32": "c32",
    "complex64": "c64",
    "complex128": "c128",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "bool": "b8",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "bits8": "b8x1",
    "bits16": "b16x1",
    "bits1x8": "b1x8",
    "bits2x4": "b2x4",
    "bits4x2": "b4x2",
}
"""As torch prints them on a graph."""


class Values:
    """The value types of one Record, each once."""

    def __init__(self, symbols: Symbols) -> None:
        self.table: Table[Hashable, ValueType] = Table()
        self._symbols = symbols
        self._tensors: dict[TensorValue, int] = {}
        self._unknown = self._number(ValueType("unknown", ""))

    def number(self, value: Value) -> int:
        """The number of a value's type. None stands for a value that is not known."""
        if isinstance(value, TensorValue):
            known = self._tensors.get(value)
            if known is None:
                known = self._tensors[value] = self._number(self._tensor(value))
            return known
        if value is None:
            return self._unknown
        if isinstance(value, NumberValue):
            return self._number(self._symbolic(value))
        if isinstance(value, ObjectValue):
            return self._number(ValueType("object", cut(value.text)))
        if isinstance(value, tuple | list):
            return self._tuple(value)
        return self._number(python_type(value) or ValueType("object", cut(type(value).__name__)))

    def none(self) -> int:
        """The number of the type of Python's None."""
        return self._number(ValueType("none", "None"))

    def constant(self, value: Value) -> int:
        """The number of the type of a constant, which may be Python's None."""
        return self.none() if value is None else self.number(value)

    def entry(self, number: int) -> ValueType:
        """A type by its number."""
        return self.table.entries[number]

    def sizes(self, number: int) -> list[Size]:
        """The sizes of a tensor type, or the one value of a number."""
        entry = self.entry(number)
        if entry.kind == "tensor":
            return entry.shape
        return [] if entry.value is None else [entry.value]

    def _tensor(self, value: TensorValue) -> ValueType:
        return tensor_type(
            value.dtype,
            [self._symbols.size(size) for size in value.sizes],
            [self._symbols.size(step) for step in value.strides],
            value.device,
            value.layout,
            value.requires_grad,
        )

    def _symbolic(self, value: NumberValue) -> ValueType:
        size = value.size
        if isinstance(size, Expression) and size.is_number:
            size = size.value
        if isinstance(size, int) or (isinstance(size, float) and value.kind == "float"):
            known = {"int": int, "float": float, "bool": bool}[value.kind](size)
            return python_type(known) or ValueType("object", value.kind)
        shown = self._symbols.size(value.size)
        return ValueType(value.kind, f"{value.kind} {shown}", value=shown)

    def _tuple(self, values: Sequence[Any]) -> int:
        items = [self.constant(item) for item in values]
        text = ", ".join(self.entry(item).text or "?" for item in items)
        return self._number(ValueType("tuple", f"({cut(text)})", items=items))

    def _number(self, entry: ValueType) -> int:
        if entry.kind == "tensor":
            key: Hashable = msgspec.msgpack.encode(entry)
        else:
            key = (entry.kind, entry.text, tuple(entry.items))
        known = self.table.find(key)
        return known if known is not None else self.table.add(key, entry)


def sizes_of(value: Value) -> Iterator[tuple[int, AnySize]]:
    """The sizes of a value by their dims; a whole number by -1."""
    if isinstance(value, TensorValue):
        yield from enumerate(value.sizes)
    elif isinstance(value, NumberValue):
        if value.kind == "int" and isinstance(value.size, int | Expression | str):
            yield -1, value.size
    elif isinstance(value, int) and not isinstance(value, bool):
        yield -1, value


def tensor_type(
    dtype: str,
    shape: list[Size],
    stride: list[Size],
    device: str,
    layout: str,
    requires_grad: bool,
) -> ValueType:
    """The type of a tensor.

    Args:
        dtype: `float32`.
        shape: per dim.
        stride: per dim; empty for a layout that has none.
        device: `cuda:0`.
        layout: `strided`, or another, which its text starts with.
        requires_grad: as torch has it.
    """
    text = f"{SHORT_DTYPES.get(dtype, dtype)}[{', '.join(map(str, shape))}]"
    return ValueType(
        "tensor",
        text if layout == "strided" else f"{layout} {text}",
        dtype=dtype,
        shape=shape,
        stride=stride,
        device=device,
        layout=layout,
        requires_grad=requires_grad,
    )


def python_type(value: object) -> ValueType | None:
    """The type of a bool, int, float or str; None for anything else."""
    match value:
        case bool():
            return ValueType("bool", f"bool {value}")
        case int():
            return ValueType("int", f"int {value}", value=value)
        case float():
            return ValueType("float", f"float {value}")
        case str():
            return ValueType("str", "str")
    return None


def cut(text: str) -> str:
    """A text of 80 characters at most."""
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
