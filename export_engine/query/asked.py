"""What a Record has to say on each field of a query, node by node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

from export_engine.query.words import places_of
from export_engine.record import OPS, Graph, Record, ValueType, floats

T = TypeVar("T")
Values = list[tuple[tuple[int, int], Sequence[T]]]
"""Per node, what it has; a test holds of a node if it holds of one of them."""

_KINDS = {"user_input": "input"}
_CALLS = {OPS.index(each) for each in ("call_function", "call_module", "call_method")}


def _columns(record: Record) -> Iterator[tuple[int, Graph]]:
    yield from enumerate(record.graphs)


def _by_table(column: str, texts: Sequence[Sequence[T]], record: Record) -> Values[T]:
    """A text of each entry of a table that a column of a graph points into."""
    return [
        ((number, node), texts[at])
        for number, graph in _columns(record)
        for node, at in enumerate(getattr(graph, column))
        if at >= 0
    ]


def _op(record: Record) -> Values[str]:
    return _by_table("target", [(each.name, each.label) for each in record.targets], record)


def _tag(record: Record) -> Values[str]:
    tags = [(*each.tags, *(("core",) if each.core else ())) for each in record.targets]
    return _by_table("target", tags, record)


def _name(record: Record) -> Values[str]:
    return [
        ((number, node), (record.strings[name],))
        for number, graph in _columns(record)
        for node, name in enumerate(graph.name)
    ]


def _kind(record: Record) -> Values[str]:
    kinds = {each.node: each.kind for each in record.signature.inputs}
    found: Values[str] = []
    for number, graph in _columns(record):
        for node, op in enumerate(graph.op):
            kind = kinds.get(node, "user_input") if number == 0 else "user_input"
            told = "op" if op in _CALLS else OPS[op]
            if OPS[op] == "placeholder":
                told = _KINDS.get(kind, kind)
            found.append(((number, node), (told,)))
    return found


def _typed(record: Record, of: Callable[[ValueType], Sequence[T]]) -> Values[T]:
    """What the types of values have; of a tuple, what its items have."""

    def told(kind: ValueType, depth: int = 0) -> Sequence[T]:
        if not kind.items or depth > 8:
            return of(kind)
        return [one for item in kind.items for one in told(record.types[item], depth + 1)]

    return _by_table("type", [told(each) for each in record.types], record)


def _dtype(record: Record) -> Values[str]:
    def told(kind: ValueType) -> Sequence[str]:
        return (kind.dtype, kind.text.partition("[")[0]) if kind.dtype else ()

    return _typed(record, told)


def _shape(record: Record) -> Values[str]:
    shapes = [
        [str(size) for size in each.shape] if each.kind == "tensor" else None
        for each in record.types
    ]
    found = _by_table("type", [each or [] for each in shapes], record)
    tensors = {number for number, each in enumerate(shapes) if each is not None}
    return [
        (place, sizes)
        for place, sizes in found
        if record.graphs[place[0]].type[place[1]] in tensors
    ]


def _symbol(record: Record) -> Values[str]:
    symbols = {
        each.text: [record.symbols[number].name for number in each.symbols]
        for each in record.expressions
    }

    def told(kind: ValueType) -> Sequence[str]:
        sizes = [*kind.shape, *([kind.value] if kind.value is not None else [])]
        return [name for size in sizes for name in symbols.get(str(size), ())]

    return _typed(record, told)


def _device(record: Record) -> Values[str]:
    return _typed(record, lambda kind: (kind.device,) if kind.device else ())


def _enclosing(record: Record, of: str) -> Values[str]:
    found: list[Sequence[str]] = []
    for each in record.scopes:  # parents come before children
        outer = found[each.parent] if each.parent >= 0 else ()
        found.append((*outer, getattr(each, of)))
    return _by_table("scope", found, record)


def _module(record: Record) -> Values[str]:
    found = _by_table("scope", [(each.path,) for each in record.scopes], record)
    held = [
        ((0, each.node), (each.target,))
        for each in record.signature.inputs
        if each.node >= 0 and each.target
    ]
    return found + held


def _stacks(record: Record) -> list[list[tuple[str, int]]]:
    return [places_of(record, number) for number in range(len(record.stacks.starts) - 1)]


def _file(record: Record) -> Values[str]:
    told = [
        [text for name, line in each for text in (name, f"{name}:{line}")]
        for each in _stacks(record)
    ]
    return _by_table("stack", told, record)


def _line(record: Record) -> Values[float]:
    torchs = {each.name for each in record.files if each.origin == "torch"}
    told = [[line for name, line in each if name not in torchs] for each in _stacks(record)]
    return _by_table("stack", told, record)


def _function(record: Record) -> Values[str]:
    starts, items = record.stacks.starts, record.stacks.items
    told = [
        [record.strings[record.frames.function[at]] for at in items[first:last]]
        for first, last in pairwise(starts)
    ]
    return _by_table("stack", told, record)


def _finding(record: Record) -> Values[str]:
    return [
        ((0, each.node), (each.code, each.kind, each.heading, each.sentence))
        for each in record.findings
        if each.node >= 0
    ]


TEXTS: dict[str, Callable[[Record], Values[str]]] = {
    "op": _op,
    "name": _name,
    "kind": _kind,
    "dtype": _dtype,
    "shape": _shape,
    "symbol": _symbol,
    "device": _device,
    "module": _module,
    "class": lambda record: _enclosing(record, "cls"),
    "file": _file,
    "function": _function,
    "finding": _finding,
    "tag": _tag,
}
"""Of each text field, what nodes have."""


def _rank(record: Record) -> Values[float]:
    return _typed(record, lambda kind: (len(kind.shape),) if kind.kind == "tensor" else ())


def _numel(record: Record) -> Values[float]:
    def told(kind: ValueType) -> Sequence[float]:
        found = 1.0
        for size in kind.shape:
            if not isinstance(size, int):
                return ()
            found *= size
        return (found,) if kind.kind == "tensor" else ()

    return _typed(record, told)


def _counted(record: Record, users: bool) -> Values[float]:
    found: Values[float] = []
    for number, graph in _columns(record):
        starts, items = graph.inputs.starts, graph.inputs.items
        sources = [set(items[starts[at] : starts[at + 1]]) for at in range(len(graph.name))]
        counts = [len(each) for each in sources]
        if users:
            counts = [0] * len(graph.name)
            for each in sources:
                for source in each:
                    counts[source] += 1
        found += [((number, node), (count,)) for node, count in enumerate(counts)]
    return found


def _profiled(record: Record, column: str) -> Values[float] | None:
    if record.profile is None:
        return None
    costs = getattr(record.profile, column)
    return [((0, node), (cost,)) for node, cost in enumerate(costs) if cost >= 0]


_COUNTS = {"nan": "nans", "inf": "infs", "runs": "runs"}
_FLOATS = {"min": "minimum", "max": "maximum"}
_STATISTICS = ("min", "max", "mean", "std", "norm", "zeros", "saturated", *_COUNTS)
_PAIRED = ("own", "relative", "absolute", "cosine", "sqnr", "overflow", "underflow")


def _watched(record: Record, name: str) -> Values[float] | None:
    if record.values is None:
        return None
    found: Values[float] = []
    for each in record.values.graphs:
        column = getattr(each, _COUNTS.get(name, _FLOATS.get(name, name)))
        numbers = column if name in _COUNTS else floats(column)
        found += [
            ((each.graph, node), (numbers[node],)) for node, runs in enumerate(each.runs) if runs
        ]
    return found


def _paired(record: Record, name: str) -> Values[float] | None:
    pairs = record.pairs
    if pairs is None:
        return None
    found: Values[float] = []
    for each in pairs.graphs:
        column = getattr(each, name)
        numbers = column if name in ("overflow", "underflow") else floats(column)
        found += [
            ((each.graph, node), (numbers[node],))
            for node, partner in enumerate(each.partner)
            if partner >= 0
        ]
    return found


NUMBERS: dict[str, Callable[[Record], Values[float] | None]] = {
    "rank": _rank,
    "numel": _numel,
    "line": _line,
    "users": lambda record: _counted(record, users=True),
    "inputs": lambda record: _counted(record, users=False),
    "time": lambda record: _profiled(record, "microseconds"),
    "memory": lambda record: _profiled(record, "bytes"),
    **{f"value.{each}": partial(_watched, name=each) for each in _STATISTICS},
    **{f"error.{each}": partial(_paired, name=each) for each in _PAIRED},
}
"""Of each field that is a number, what nodes have; None where the Record has none of it."""
