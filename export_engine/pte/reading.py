"""Reads a `.pte` file by the schema of ExecuTorch 1.5: schema/program.fbs."""

from __future__ import annotations

import mmap
from math import prod
from pathlib import Path
from typing import NamedTuple

from export_engine.pte.flatbuffer import Buffer, PteError, Table
from export_engine.pte.program import Delegate, Instruction, Placed, Plan, PteProgram
from export_engine.pte.xnnpack_payload import read_xnnpack_ops

_HEADER, _MARK = b"eh00", b"ET"
_DTYPES = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    5: "float16",
    6: "float32",
    7: "float64",
    11: "bool",
    12: "qint8",
    13: "quint8",
    14: "qint32",
    15: "bfloat16",
    27: "uint16",
    28: "uint32",
    29: "uint64",
}
_WIDTHS = {"uint8": 1, "int8": 1, "bool": 1, "qint8": 1, "quint8": 1, "int16": 2, "uint16": 2}
_WIDTHS |= {"float16": 2, "bfloat16": 2, "int64": 8, "uint64": 8, "float64": 8}
_TENSOR, _TENSOR_LISTS = 5, (10, 11)
_KINDS = {1: "kernel", 2: "delegate", 3: "move", 4: "jump", 5: "free"}


class _Segments(NamedTuple):
    """Where the parts of a file after its flatbuffer lie."""

    data: memoryview
    base: int
    places: list[tuple[int, int]]

    def part(self, number: int) -> memoryview:
        """A segment's bytes; none where there is no such segment."""
        if not 0 <= number < len(self.places):
            return memoryview(b"")
        offset, size = self.places[number]
        start = self.base + offset
        return self.data[start : start + size] if start < len(self.data) else memoryview(b"")


def is_pte(path: str | Path) -> bool:
    """Whether a file has ExecuTorch's mark; its name says nothing. False if it cannot be read."""
    try:
        with Path(path).open("rb") as opened:
            return opened.read(8)[4:].startswith(_MARK)
    except OSError:
        return False


def read_pte(path: str | Path) -> PteProgram:
    """The contents of a file. Nothing in it is run, and weights are not read.

    Raises:
        PteError: it is not a `.pte`, or not a whole one.
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as opened:
        try:
            held = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise PteError(f"{path} is empty.") from error
        view = memoryview(held)
        try:
            return _program(view, str(path))
        finally:
            del view


def _program(data: memoryview, path: str) -> PteProgram:
    identifier = bytes(data[4:8])
    if not identifier.startswith(_MARK):
        raise PteError(f"{path} is not a .pte file: it lacks ExecuTorch's mark, `ET12`.")
    base = 0
    if bytes(data[8:12]) == _HEADER and len(data) > _HEADER_END:
        base = int.from_bytes(data[24:32], "little")
    buffer = Buffer(data)
    root = buffer.root()
    places = root.tables(4, lambda each: (each.number(0, "<Q"), each.number(1, "<Q")))
    segments = _Segments(data, base, places)
    inline = root.tables(3, lambda each: each.part(0))
    offsets = root.table(5)
    constants = len(offsets.numbers(1, "<Q")) if offsets else 0
    held = places[offsets.number(0, "<I")][1] if offsets and _has(places, offsets) else 0
    buffers = root.tables(2, lambda each: each.size_of(0))
    plans = root.tables(1, lambda each: _plan(each, segments, inline))
    if not plans:
        raise PteError(f"{path} has no method: it is not a complete .pte file.")
    return PteProgram(
        version=root.number(0, "<I"),
        identifier=identifier.decode("ascii", errors="replace"),
        bytes=len(data),
        plans=plans,
        constants=max(constants + len(buffers) - 1, 0),
        constant_bytes=held + sum(buffers),
        segment_bytes=sum(size for _, size in places),
        named_data=root.tables(7, lambda each: each.text(0)),
    )


_HEADER_END = 40


def _has(places: list[tuple[int, int]], offsets: Table) -> bool:
    return offsets.number(0, "<I") < len(places)


def _plan(table: Table, segments: _Segments, inline: list[memoryview]) -> Plan:
    operators = table.tables(6, _operator)
    delegates = table.tables(7, lambda each: _delegate(each, segments, inline))
    steps = [
        step for chain in table.tables(5, lambda each: each.tables(2, _step)) for step in chain
    ]
    instructions = [_instruction(step, operators, delegates) for step in steps]
    inputs, outputs = table.numbers(3), table.numbers(4)
    values = table.tables(2, _value)
    spans = _spans(instructions, values)
    ends = _Ends(frozenset(inputs), frozenset(outputs), max(len(instructions) - 1, 0))
    placed = [
        _place_value(number, value, spans, ends)
        for number, value in enumerate(values)
        if value.arena > 0
    ]
    return Plan(
        name=table.text(0),
        inputs=len(inputs),
        outputs=len(outputs),
        operators=operators,
        delegates=delegates,
        instructions=instructions,
        arenas=table.numbers(8, "<q"),
        placed=placed,
    )


def _operator(table: Table) -> str:
    overload = table.text(1)
    return table.text(0) + (f".{overload}" if overload else "")


def _delegate(table: Table, segments: _Segments, inline: list[memoryview]) -> Delegate:
    where = table.table(1)
    payload = memoryview(b"")
    if where is not None:
        number = where.number(1, "<I")
        if where.number(0, "<b"):
            payload = segments.part(number)
        elif number < len(inline):
            payload = inline[number]
    name = table.text(0)
    ops = read_xnnpack_ops(payload) if name == "XnnpackBackend" else []
    return Delegate(backend=name, bytes=len(payload), ops=ops)


class _Step(NamedTuple):
    kind: int
    runs: int
    values: list[int]


def _step(table: Table) -> _Step:
    kind, inner = table.number(0, "<B"), table.table(1)
    if inner is None:
        return _Step(kind, -1, [])
    if kind in (1, 2):
        return _Step(kind, inner.number(0), inner.numbers(1))
    values = [inner.number(0), inner.number(1)] if kind == _MOVE else [inner.number(0)]
    return _Step(kind, -1, values)


_MOVE = 3


def _instruction(step: _Step, operators: list[str], delegates: list[Delegate]) -> Instruction:
    runs = ""
    if step.kind == 1 and 0 <= step.runs < len(operators):
        runs = operators[step.runs]
    elif step.kind != 1 and 0 <= step.runs < len(delegates):
        runs = f"delegate {step.runs}, {delegates[step.runs].backend}"
    return Instruction(kind=_KINDS.get(step.kind, "unknown"), runs=runs, values=step.values)


class _Value(NamedTuple):
    dtype: str
    shape: list[int]
    arena: int
    offset: int
    items: list[int]


def _value(table: Table) -> _Value:
    kind, inner = table.number(0, "<B"), table.table(1)
    if inner is None or kind not in (_TENSOR, *_TENSOR_LISTS):
        return _Value("", [], 0, 0, [])
    if kind in _TENSOR_LISTS:
        return _Value("", [], 0, 0, inner.numbers(0))
    place = inner.table(6)
    dtype = _DTYPES.get(inner.number(0, "<b"), "unknown")
    if place is None:
        return _Value(dtype, inner.numbers(2), 0, 0, [])
    offset = place.number(1, "<I") + (place.number(2, "<I") << 32)
    return _Value(dtype, inner.numbers(2), place.number(0, "<I"), offset, [])


def _spans(instructions: list[Instruction], values: list[_Value]) -> dict[int, tuple[int, int]]:
    """The first and the last instruction that uses each value."""
    result: dict[int, tuple[int, int]] = {}
    for at, instruction in enumerate(instructions):
        for number in instruction.values:
            items = values[number].items if 0 <= number < len(values) else []
            for used in (number, *items):
                result[used] = result.get(used, (at, at))[0], at
    return result


class _Ends(NamedTuple):
    inputs: frozenset[int]
    outputs: frozenset[int]
    last: int
    """The last instruction."""


def _place_value(
    number: int, value: _Value, spans: dict[int, tuple[int, int]], ends: _Ends
) -> Placed:
    """An input is alive from the first instruction on, an output up to the last."""
    first, last = spans.get(number, (-1, -1))
    if number in ends.inputs:
        first, last = 0, max(last, 0)
    if number in ends.outputs:
        first, last = max(first, 0), ends.last
    size = prod(max(number, 0) for number in value.shape) * _WIDTHS.get(value.dtype, 4)
    return Placed(
        value=number,
        dtype=value.dtype,
        shape=value.shape,
        arena=value.arena,
        offset=value.offset,
        bytes=size,
        first=first,
        last=last,
    )
