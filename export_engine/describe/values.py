"""What a node produces: tensors, symbolic numbers, and tuples of them, as ValueTypes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch

from export_engine.describe.symbols import Symbols
from export_engine.describe.tables import Table
from export_engine.record import Size, ValueType
from export_engine.torch_internals import expression_of, short_dtype

_LONGEST_TEXT = 80
_SYMBOLIC = {torch.SymInt: "int", torch.SymFloat: "float", torch.SymBool: "bool"}


class Values:
    """The value types of one Record."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self.table: Table[Hashable, ValueType] = Table()
        self._unknown = self._number(ValueType("unknown", ""))

    def number(self, node_value: Any) -> int:
        """The number of a value's type. `None` stands for a value that tracing did not keep."""
        if isinstance(node_value, torch.Tensor):
            return self._tensor(node_value)
        if node_value is None:
            return self._unknown
        if isinstance(node_value, tuple | list):
            return self._tuple(node_value)
        return self._number(self._scalar(node_value))

    def none(self) -> int:
        """The number of the type of Python's None."""
        return self._number(ValueType("none", "None"))

    def _tensor(self, value: torch.Tensor) -> int:
        strided = value.layout is torch.strided
        sizes = tuple(value.shape)
        strides = tuple(value.stride()) if strided else ()
        key = (
            value.dtype,
            tuple(map(_key, sizes)),
            tuple(map(_key, strides)),
            value.device,
            value.layout,
            value.requires_grad,
        )
        known = self.table.find(key)
        if known is not None:
            return known
        shape = [self._symbols.size(size) for size in sizes]
        dtype = str(value.dtype).removeprefix("torch.")
        layout = str(value.layout).removeprefix("torch.")
        text = f"{short_dtype(value.dtype)}[{', '.join(map(str, shape))}]"
        entry = ValueType(
            "tensor",
            text if strided else f"{layout} {text}",
            dtype=dtype,
            shape=shape,
            stride=[self._symbols.size(step) for step in strides],
            device=str(value.device),
            layout=layout,
            requires_grad=value.requires_grad,
        )
        return self.table.add(key, entry)

    def _tuple(self, values: tuple[Any, ...] | list[Any]) -> int:
        items = [self.none() if item is None else self.number(item) for item in values]
        text = ", ".join(self.table.entries[item].text or "?" for item in items)
        return self._number(ValueType("tuple", f"({_cut(text)})", items=items))

    def _scalar(self, value: Any) -> ValueType:
        for kind, name in _SYMBOLIC.items():
            if isinstance(value, kind):
                size = self._symbols.size(value)
                return ValueType(name, f"{name} {size}", value=size)  # type: ignore[arg-type]
        match value:
            case bool():
                return ValueType("bool", f"bool {value}")
            case int():
                return ValueType("int", f"int {value}", value=value)
            case float():
                return ValueType("float", f"float {value}")
            case str():
                return ValueType("str", "str")
        return ValueType("object", _cut(type(value).__name__))

    def _number(self, entry: ValueType) -> int:
        key = (entry.kind, entry.text, tuple(entry.items))
        known = self.table.find(key)
        return known if known is not None else self.table.add(key, entry)

    def entry(self, number: int) -> ValueType:
        """A type by its number."""
        return self.table.entries[number]

    def sizes(self, number: int) -> list[Size]:
        """The sizes of a tensor type, or the one value of a number."""
        entry = self.entry(number)
        if entry.kind == "tensor":
            return entry.shape
        return [] if entry.value is None else [entry.value]


def _key(size: Any) -> Hashable:
    """What tells sizes apart without comparing SymInts, which would add guards."""
    return size if isinstance(size, int) else ("symbolic", expression_of(size))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
