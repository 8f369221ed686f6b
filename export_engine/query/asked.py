"""The values of a query's fields for each node of a Record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

from export_engine.query.words import places_of
from export_engine.record import (
    OPS,
    DelegatedOp,
    Delegation,
    Graph,
    Record,
    ValueType,
    floats,
)

T = TypeVar("T")
Values = list[tuple[tuple[int, int], Sequence[T]]]
"""Per node, what it has; a test holds of a node if it holds of one of them."""

_KINDS = {"user_input": "input"}
_CALLS = {OPS.index(text) for text in ("call_function", "call_module", "call_method")}


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
    return _by_table("target", [(target.name, target.label) for target in record.targets], record)


def _tag(record: Record) -> Values[str]:
    tags = [(*target.tags, *(("core",) if target.core else ())) for target in record.targets]
    return _by_table("target", tags, record)


def _name(record: Record) -> Values[str]:
    return [
        ((number, node), (record.strings[name],))
        for number, graph in _columns(record)
        for node, name in enumerate(graph.name)
    ]


def _kind(record: Record) -> Values[str]:
    kinds = {entry.node: entry.kind for entry in record.signature.inputs}
    pairs: Values[str] = []
    for number, graph in _columns(record):
        for node, op in enumerate(graph.op):
            kind = kinds.get(node, "user_input") if number == 0 else "user_input"
            told = "op" if op in _CALLS else OPS[op]
            if OPS[op] == "placeholder":
                told = _KINDS.get(kind, kind)
            pairs.append(((number, node), (told,)))
    return pairs


def _type_values(record: Record, of: Callable[[ValueType], Sequence[T]]) -> Values[T]:
    """Facts from types of values; for a tuple, from its items."""

    def list_values(kind: ValueType, depth: int = 0) -> Sequence[T]:
        if not kind.items or depth > 8:
            return of(kind)
        return [one for item in kind.items for one in list_values(record.types[item], depth + 1)]

    return _by_table("type", [list_values(value_type) for value_type in record.types], record)


def _dtype(record: Record) -> Values[str]:
    def list_values(kind: ValueType) -> Sequence[str]:
        return (kind.dtype, kind.text.partition("[")[0]) if kind.dtype else ()

    return _type_values(record, list_values)


def _shape(record: Record) -> Values[str]:
    shapes = [
        [str(size) for size in value_type.shape] if value_type.kind == "tensor" else None
        for value_type in record.types
    ]
    pairs = _by_table("type", [shape or [] for shape in shapes], record)
    tensors = {number for number, shape in enumerate(shapes) if shape is not None}
    return [
        (place, sizes)
        for place, sizes in pairs
        if record.graphs[place[0]].type[place[1]] in tensors
    ]


def _symbol(record: Record) -> Values[str]:
    symbols = {
        expression.text: [record.symbols[number].name for number in expression.symbols]
        for expression in record.expressions
    }

    def list_values(kind: ValueType) -> Sequence[str]:
        sizes = [*kind.shape, *([kind.value] if kind.value is not None else [])]
        return [name for size in sizes for name in symbols.get(str(size), ())]

    return _type_values(record, list_values)


def _device(record: Record) -> Values[str]:
    return _type_values(record, lambda kind: (kind.device,) if kind.device else ())


def _enclosing(record: Record, of: str) -> Values[str]:
    groups: list[Sequence[str]] = []
    for scope in record.scopes:  # parents come before children
        outer = groups[scope.parent] if scope.parent >= 0 else ()
        groups.append((*outer, getattr(scope, of)))
    return _by_table("scope", groups, record)


def _module(record: Record) -> Values[str]:
    pairs = _by_table("scope", [(scope.path,) for scope in record.scopes], record)
    held = [
        ((0, entry.node), (entry.target,))
        for entry in record.signature.inputs
        if entry.node >= 0 and entry.target
    ]
    return pairs + held


def _stacks(record: Record) -> list[list[tuple[str, int]]]:
    return [places_of(record, number) for number in range(len(record.stacks.starts) - 1)]


def _file(record: Record) -> Values[str]:
    told = [
        [text for name, line in stack for text in (name, f"{name}:{line}")]
        for stack in _stacks(record)
    ]
    return _by_table("stack", told, record)


def _line(record: Record) -> Values[float]:
    torchs = {file.name for file in record.files if file.origin == "torch"}
    told = [[line for name, line in stack if name not in torchs] for stack in _stacks(record)]
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
        ((0, finding.node), (finding.code, finding.kind, finding.heading, finding.sentence))
        for finding in record.findings
        if finding.node >= 0
    ]


def _delegation(record: Record) -> Values[str] | None:
    return _of_delegations(record, lambda own, op: own.backend if op.is_inside else "no")


def _reason(record: Record) -> Values[str] | None:
    return _of_delegations(record, lambda _, op: "" if op.is_inside else op.reason)


def _of_delegations(
    record: Record, text: Callable[[Delegation, DelegatedOp], str]
) -> Values[str] | None:
    """The texts of each delegation for nodes that its ops are of; None where there is none."""
    if not record.delegations:
        return None
    places: dict[str, list[tuple[int, int]]] = {}
    for number, graph in _columns(record):
        for node, name in enumerate(graph.name):
            places.setdefault(record.strings[name], []).append((number, node))
    told: dict[tuple[int, int], list[str]] = {}
    for delegation in record.delegations:
        for op in delegation.ops:
            own = places.get(op.name if delegation.is_stage else op.origin, [])
            if op.kind != "tensor" or not own:
                continue
            last = delegation.is_stage and (op.is_inside or op.graph)
            texts = told.setdefault(own[-1 if last else 0], [])
            if words := text(delegation, op):
                texts.append(words)
    return list(told.items())


TEXTS: dict[str, Callable[[Record], Values[str] | None]] = {
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
    "delegated": _delegation,
    "reason": _reason,
}
"""For each text field, what nodes have; None where the Record has none of it."""


def _rank(record: Record) -> Values[float]:
    return _type_values(record, lambda kind: (len(kind.shape),) if kind.kind == "tensor" else ())


def _numel(record: Record) -> Values[float]:
    def list_values(kind: ValueType) -> Sequence[float]:
        number = 1.0
        for size in kind.shape:
            if not isinstance(size, int):
                return ()
            number *= size
        return (number,) if kind.kind == "tensor" else ()

    return _type_values(record, list_values)


def _count_edges(record: Record, users: bool) -> Values[float]:
    pairs: Values[float] = []
    for number, graph in _columns(record):
        starts, items = graph.inputs.starts, graph.inputs.items
        sources = [set(items[starts[at] : starts[at + 1]]) for at in range(len(graph.name))]
        counts = [len(source) for source in sources]
        if users:
            counts = [0] * len(graph.name)
            for numbers in sources:
                for source in numbers:
                    counts[source] += 1
        pairs += [((number, node), (count,)) for node, count in enumerate(counts)]
    return pairs


def _profile_values(record: Record, column: str) -> Values[float] | None:
    if record.profile is None:
        return None
    costs = getattr(record.profile, column)
    return [((0, node), (cost,)) for node, cost in enumerate(costs) if cost >= 0]


_COUNTS = {"nan": "nans", "inf": "infs", "runs": "runs"}
_FLOATS = {"min": "minimum", "max": "maximum"}
_STATISTICS = ("min", "max", "mean", "std", "norm", "zeros", "saturated", *_COUNTS)
_PAIRED = ("own", "relative", "absolute", "cosine", "sqnr", "overflow", "underflow")


def _watch_values(record: Record, name: str) -> Values[float] | None:
    if record.values is None:
        return None
    pairs: Values[float] = []
    for graph in record.values.graphs:
        column = getattr(graph, _COUNTS.get(name, _FLOATS.get(name, name)))
        numbers = column if name in _COUNTS else floats(column)
        pairs += [
            ((graph.graph, node), (numbers[node],)) for node, runs in enumerate(graph.runs) if runs
        ]
    return pairs


def _pair_values(record: Record, name: str) -> Values[float] | None:
    pairs = record.pairs
    if pairs is None:
        return None
    result: Values[float] = []
    for graph in pairs.graphs:
        column = getattr(graph, name)
        numbers = column if name in ("overflow", "underflow") else floats(column)
        result += [
            ((graph.graph, node), (numbers[node],))
            for node, partner in enumerate(graph.partner)
            if partner >= 0
        ]
    return result


NUMBERS: dict[str, Callable[[Record], Values[float] | None]] = {
    "rank": _rank,
    "numel": _numel,
    "line": _line,
    "users": lambda record: _count_edges(record, users=True),
    "inputs": lambda record: _count_edges(record, users=False),
    "time": lambda record: _profile_values(record, "microseconds"),
    "memory": lambda record: _profile_values(record, "bytes"),
    **{f"value.{text}": partial(_watch_values, name=text) for text in _STATISTICS},
    **{f"error.{text}": partial(_pair_values, name=text) for text in _PAIRED},
}
"""For each field that is a number, what nodes have; None where the Record has none of it."""
