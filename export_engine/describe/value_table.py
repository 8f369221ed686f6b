"""The table of a Record's value types. It imports no torch: programs and archives fill it alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

from export_engine.describe.tables import Table
from export_engine.record import Size, ValueType

_LONGEST_TEXT = 80
_V = TypeVar("_V")


class ValueTable(ABC, Generic[_V]):
    """The value types of one Record, each once; a subclass knows the values that it describes."""

    def __init__(self) -> None:
        self.table: Table[Hashable, ValueType] = Table()
        self._unknown = self._number(ValueType("unknown", ""))

    @abstractmethod
    def number(self, value: _V) -> int:
        """The number of a value's type."""

    def none(self) -> int:
        """The number of the type of Python's None."""
        return self._number(ValueType("none", "None"))

    def constant(self, value: _V) -> int:
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

    def _tuple(self, values: Sequence[Any]) -> int:
        items = [self.constant(item) for item in values]
        text = ", ".join(self.entry(item).text or "?" for item in items)
        return self._number(ValueType("tuple", f"({cut(text)})", items=items))

    def _number(self, entry: ValueType) -> int:
        key = (entry.kind, entry.text, tuple(entry.items))
        known = self.table.find(key)
        return known if known is not None else self.table.add(key, entry)


def tensor_type(
    dtype: str,
    short_dtype: str,
    shape: list[Size],
    stride: list[Size],
    device: str,
    layout: str,
    requires_grad: bool,
) -> ValueType:
    """The type of a tensor.

    Args:
        dtype: `float32`.
        short_dtype: `f32`, for its text.
        shape: per dim.
        stride: per dim; empty for a layout that has none.
        device: `cuda:0`.
        layout: `strided`, or another, which its text starts with.
        requires_grad: as torch has it.
    """
    text = f"{short_dtype}[{', '.join(map(str, shape))}]"
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
