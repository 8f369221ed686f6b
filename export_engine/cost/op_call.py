"""One op of a Record, as a cost rule reads it: its arguments by name, with types and sizes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from export_engine.cost.amount import Amount, SizeReader
from export_engine.record import (
    Graph,
    Record,
    SchemaArgument,
    Size,
    ValueType,
    call_arguments,
    schema_arguments,
)

_INPUT = re.compile(r"\{(\d+)\}")
_ALONE = re.compile(r"\{(\d+)\}\Z")
_BYTES = re.compile(r"(\d+)\Z")
_WIDTHS = {"bool": 8, "uint1": 8, "float8_e4m3fn": 8, "float8_e5m2": 8}
"""Bits of an element where the dtype's name does not end in them."""


_QUOTED = re.compile(r"'([^'\\\\]*)'\Z")
_PYTHON_WORD = re.compile(r"\b(?:None|True|False)\b")
_JSON_WORDS = {"None": "null", "True": "true", "False": "false"}


def _read_literal(text: str) -> Any:
    """A string, a number, a bool, None, or a list of all but strings, as Python writes them.

    Read as JSON: the text may come from a file that nobody trusts, and Python compiles nothing.

    Raises:
        ValueError: it is none of these.
    """
    quoted = _QUOTED.match(text)
    if quoted:
        return quoted[1]
    brackets = text.replace("(", "[").replace(",)", "]").replace(")", "]")
    return json.loads(_PYTHON_WORD.sub(lambda word: _JSON_WORDS[word[0]], brackets))


class OpCall:
    """A call of an op. Names of arguments are those of the op's schema."""

    def __init__(self, record: Record, graph: Graph, node: int, sizes: SizeReader) -> None:
        """Make one.

        Args:
            record: of the program.
            graph: one of its graphs.
            node: a node of it that calls an op.
            sizes: reads the Record's sizes.
        """
        self._record = record
        self._graph = graph
        self._sizes = sizes
        self.node = node
        self.target = record.targets[graph.target[node]]
        starts = graph.inputs.starts
        self.inputs = list(graph.inputs.items[starts[node] : starts[node + 1]])
        """The nodes that it reads."""
        self.batch = Amount(1)
        """How often it is done at once, in `torch.vmap`, on top of its own sizes."""

    @property
    def name(self) -> str:
        """The op without its overload: `aten.linear`."""
        return self.target.name.removesuffix(f".{self.target.overload}")

    @cached_property
    def declared(self) -> tuple[SchemaArgument, ...]:
        """The arguments of the op's schema; none where it has no schema."""
        return schema_arguments(self.target.schema) if self.target.schema else ()

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The arguments that are passed, as texts, by name; by position where none is declared."""
        by_position, by_name = call_arguments(self._record.strings[self._graph.args[self.node]])
        names = [argument.name for argument in self.declared]
        numbered = (
            (names[at] if at < len(names) else str(at), text) for at, text in enumerate(by_position)
        )
        return {**dict(numbered), **by_name}

    def text(self, name: str) -> str | None:
        """An argument as text; None where it is not passed."""
        return self._texts.get(name)

    def value(self, name: str, default: Any = None) -> Any:
        """An argument that is a number, a bool, a text or a list of them; else the default."""
        text = self._texts.get(name)
        if text is None:
            return default
        try:
            return _read_literal(text) if len(text) < _LONGEST else default
        except (ValueError, RecursionError):
            return default

    def nodes(self, name: str) -> list[int]:
        """The nodes in an argument, in order."""
        text = self._texts.get(name, "")
        return [self.inputs[int(item)] for item in _INPUT.findall(text)]

    def type(self, name: str) -> ValueType | None:
        """The type of an argument that is one value; None where it is not."""
        alone = _ALONE.match(self._texts.get(name, ""))
        return self.type_of(self.inputs[int(alone[1])]) if alone else None

    def type_of(self, node: int) -> ValueType:
        """The type of a node of the same graph."""
        return self._record.types[self._graph.type[node]]

    def shape(self, name: str) -> list[Size] | None:
        """The sizes of an argument that is a tensor; None where it is not."""
        value_type = self.type(name)
        return value_type.shape if value_type is not None and value_type.kind == "tensor" else None

    @property
    def result(self) -> ValueType:
        """The type of the result."""
        return self.type_of(self.node)

    @property
    def results(self) -> list[ValueType]:
        """The tensors of the result: one, or those of a tuple."""
        return list(self.tensors_of(self.result))

    @property
    def items(self) -> list[list[ValueType]]:
        """The tensors of each item of the result, in one list unless it is a tuple."""
        if self.result.kind == "tensor":
            return [[self.result]]
        return [self.tensors_of(self._record.types[item]) for item in self.result.items]

    def tensors_of(self, value: ValueType, depth: int = 0) -> list[ValueType]:
        """The tensors in a type."""
        if value.kind == "tensor":
            return [value]
        if depth > _DEEPEST:
            return []
        inside = (self.tensors_of(self._record.types[item], depth + 1) for item in value.items)
        return [value_type for value_types in inside for value_type in value_types]

    def product(self, sizes: list[Size] | None) -> Amount | None:
        """The product of sizes; None where one is not known."""
        return None if sizes is None else self._sizes.product(sizes)

    def size(self, size: Size) -> Amount | None:
        """A size as an amount."""
        return self._sizes.read(size)

    def elements(self, *types: ValueType) -> Amount | None:
        """How many elements tensors have together; None where that is not known."""
        total = Amount(0)
        for value_type in types:
            count = self._sizes.product(value_type.shape)
            if count is None:
                return None
            total = total + count
        return total

    def bytes(self, *types: ValueType) -> Amount | None:
        """How many bytes tensors take together; None where that is not known."""
        total = Amount(0)
        for value_type in types:
            count, width = self._sizes.product(value_type.shape), width_of(value_type.dtype)
            if count is None or width is None:
                return None
            total = total + count * width
        return total

    def is_dense(self, value: ValueType, order: Sequence[int] = ()) -> bool:
        """Whether a tensor lies in memory in the order of its dims, without gaps.

        Args:
            value: the tensor.
            order: another order of its dims, as of one whose channels are last.
        """
        step = Amount(1)
        for dim in reversed(order or range(len(value.stride))):
            count, by = self.size(value.shape[dim]), self.size(value.stride[dim])
            if count is None or by is None:
                return False
            if count != 1 and by != step:
                return False
            step = step * count
        return True


_LONGEST = 10_000
_DEEPEST = 8


def width_of(dtype: str) -> int | None:
    """Bytes of an element of a dtype, `float32`; None where it is not known."""
    bits = _WIDTHS.get(dtype)
    if bits is None:
        match = _BYTES.search(dtype)
        bits = int(match[1]) if match else None
    return None if bits is None else max(bits // 8, 1)
