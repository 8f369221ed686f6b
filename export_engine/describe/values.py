"""Values of nodes as ValueTypes: tensors, symbolic numbers, and tuples of them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch

from export_engine.describe.symbol_names import Symbols
from export_engine.describe.value_table import ValueTable, cut, python_type, tensor_type
from export_engine.record import ValueType
from export_engine.torch_internals import expression_of, short_dtype

_SYMBOLIC = {torch.SymInt: "int", torch.SymFloat: "float", torch.SymBool: "bool"}


class Values(ValueTable[Any]):
    """The value types of one Record."""

    def __init__(self, symbols: Symbols) -> None:
        super().__init__()
        self._symbols = symbols

    def number(self, value: Any) -> int:
        """The number of a value's type. `None` stands for a value that tracing did not keep."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if value is None:
            return self._unknown
        if isinstance(value, tuple | list):
            return self._tuple(value)
        return self._number(self._scalar(value))

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
        entry = tensor_type(
            str(value.dtype).removeprefix("torch."),
            short_dtype(value.dtype),
            [self._symbols.size(size) for size in sizes],
            [self._symbols.size(step) for step in strides],
            str(value.device),
            str(value.layout).removeprefix("torch."),
            value.requires_grad,
        )
        return self.table.add(key, entry)

    def _scalar(self, value: Any) -> ValueType:
        for kind, name in _SYMBOLIC.items():
            if isinstance(value, kind):
                expression = expression_of(value)
                known = _known_value(expression)
                if known is not None:
                    return python_type(known) or ValueType("object", name)
                size = self._symbols.size(value)
                return ValueType(name, f"{name} {size}", value=size)  # type: ignore[arg-type]
        return python_type(value) or ValueType("object", cut(type(value).__name__))


def _known_value(expression: Any) -> bool | int | float | None:
    """The value of a sympy expression that is one, as a program that is saved has it."""
    if expression.is_Integer:
        return int(expression)
    if expression.is_Float:
        return float(expression)
    return {"True": True, "False": False}.get(str(expression))


def _key(size: Any) -> Hashable:
    """A key of sizes that does not compare SymInts, which would add guards."""
    return size if isinstance(size, int) else ("symbolic", expression_of(size))
