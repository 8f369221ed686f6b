"""What a query over 10,000 ops takes in the kernel, in CPU time: at most 100 ms."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterable

import msgspec

from export_engine.query import query
from export_engine.record import Column, Graph, Ragged, Record

from ..query_cases import made
from .table import Row

_OPS = 10_000
_RUNS = 5
QUERIES = (
    "linear",
    "op:linear & dtype:f32 & value.max > 0.1",
    "(op:relu | op:linear) & !module:up & shape:[batch, *] & line > 3",
    "file:query_cases.py & users > 1 | kind:parameter",
)


def run() -> list[Row]:
    """The table's rows."""
    return list(_rows(grown(made(), _OPS)))


def _rows(record: Record) -> Iterable[Row]:
    for text in QUERIES:
        found = []
        for _ in range(_RUNS):
            started = time.process_time()
            query(record, text)
            found.append(time.process_time() - started)
        yield Row(
            f"{len(record.graphs[0].name):,} ops",
            text,
            sorted(found)[_RUNS // 2] * 1000,
            "ms",
            most=100,
            means="how long a query takes in Python; the search box answers by code like it",
        )


def grown(record: Record, ops: int) -> Record:
    """A Record whose main graph, with its values, stands there often enough to have so many ops."""
    graph, values = record.graphs[0], record.values
    assert values is not None
    times = -(-ops // len(graph.name))
    columns = {
        name: _often(column, times)
        for name in Graph.__struct_fields__
        if isinstance(column := getattr(graph, name), array)
    }
    large = msgspec.structs.replace(graph, inputs=_inputs(graph, times), **columns)
    statistics = {
        name: _often(column, times)
        for name in values.graphs[0].__struct_fields__
        if isinstance(column := getattr(values.graphs[0], name), array)
    }
    noted = msgspec.structs.replace(values.graphs[0], **statistics)
    return msgspec.structs.replace(
        record,
        graphs=[large, *record.graphs[1:]],
        values=msgspec.structs.replace(values, graphs=[noted]),
    )


def _often(column: Column, times: int) -> Column:
    return array("i", list(column) * times)


def _inputs(graph: Graph, times: int) -> Ragged:
    count, edges = len(graph.name), len(graph.inputs.items)
    starts = [at + copy * edges for copy in range(times) for at in graph.inputs.starts[:-1]]
    items = [at + copy * count for copy in range(times) for at in graph.inputs.items]
    return Ragged(array("i", [*starts, times * edges]), array("i", items))
