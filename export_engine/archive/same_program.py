"""Whether the Record saved in an archive is of its program.

Facts that torch drops when it saves a program are left out: where an op that runs a graph, a
`getitem` of its results and a lifted constant come from, names of such ops and of nested graphs, an
example of a size that follows from data, the fields of a class that the file does not name, and the
bytes of a tensor subclass.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import msgspec

from export_engine.diff import prove_identical
from export_engine.record import OPS, Record, Symbol, Target, split_path
from export_engine.source import items_of

_GET_ATTR, _PLACEHOLDER = OPS.index("get_attr"), OPS.index("placeholder")
_HOLE = re.compile(r"\{\{|\}\}|\{(\d{1,9})\}")
_GETITEM = "operator.getitem"


def find_difference(read: Record, kept: Record) -> str:
    """The difference of the saved Record; empty if it belongs to the same program.

    Args:
        read: the Record of the program in the file.
        kept: the saved one.
    """
    if kept.outcome != "exported":
        return "it belongs to a failed export"
    if len(read.graphs) != len(kept.graphs):
        return f"it has {len(kept.graphs)} graphs, but the program has {len(read.graphs)}"
    unfilled = _find_unfilled(kept)
    if unfilled:
        return unfilled
    proof = prove_identical(read, kept, same_objects=True)
    if proof.mismatch is not None:
        graph, node = proof.mismatch.graphs[0], proof.mismatch.node
        name = read.strings[read.graphs[graph].name[node]] if node >= 0 else "not in the program"
        return f"node {name} of graph {graph} differs: {proof.mismatch.what}"
    mine, theirs = _Origins(read), _Origins(kept)
    for (graph, other), pairs in proof.pairs.items():
        for node, twin in sorted(pairs.items()):
            if mine.of_node(graph, node) != theirs.of_node(other, twin):
                name = read.strings[read.graphs[graph].name[node]]
                return f"node {name} of graph {graph} differs: name, target, scope or stack"
    if (
        _entries(read, read) != _entries(kept, read)
        or any(
            a and b and a != b for a, b in zip(_containers(read), _containers(kept), strict=True)
        )
        or not all(map(is_same_path, _paths(read), _paths(kept)))
    ):
        return "its inputs or outputs differ"
    symbols = {symbol.torch_name: _facts(symbol) for symbol in kept.symbols}
    for symbol in read.symbols:
        saved = symbols.get(symbol.torch_name)
        unknown = symbol.kind == "unbacked" and symbol.example is None
        if saved is None or _facts(symbol)[unknown:] != saved[unknown:]:
            return "its symbols differ"
    return ""


def _find_unfilled(record: Record) -> str:
    """A node whose arguments name an input that it does not have; empty if there is none."""
    needed = [
        max((int(hole[1]) + 1 for hole in _HOLE.finditer(text) if hole[1]), default=0)
        for text in record.strings
    ]
    for number, graph in enumerate(record.graphs):
        for node, args in enumerate(graph.args):
            if needed[args] > len(items_of(graph.inputs, node)):
                name = record.strings[graph.name[node]]
                return f"node {name} of graph {number} differs: args"
    return ""


def is_same_path(read: str, kept: str) -> bool:
    """Whether paths lead to the same leaf of a call.

    A file calls entries of `*args` `args_0`. For a class whose fields it does not name, it numbers
    them or has them in lower case.
    """
    if read == kept or read == kept.replace(".", "_"):
        return True
    mine, theirs = split_path(read) or [read], split_path(kept) or [kept]
    if len(theirs) > 1 and mine[0] == f"{theirs[0]}_{theirs[1]}":
        theirs = [mine[0], *theirs[2:]]
    return len(mine) == len(theirs) and all(
        one == other or one.isdecimal() or one == other.lower()
        for one, other in zip(mine, theirs, strict=True)
    )


class _Origins:
    """Names, modules and lines of a Record's nodes, without numbers into its tables."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._scope = lru_cache(maxsize=None)(self._modules)
        self._target = lru_cache(maxsize=None)(self._find_target)
        self._stack = lru_cache(maxsize=None)(self._lines)

    def of_node(self, number: int, node: int) -> Hashable:
        """What is known of a node, as far as torch keeps it."""
        graph = self._record.graphs[number]
        target = self._target(graph.target[node])
        if graph.op[node] == _GET_ATTR or (target is not None and target.name == _GETITEM):
            return target, graph.housekeeping[node]
        name = self._record.strings[graph.name[node]]
        if target is not None and target.kind == "higher_order":
            return target, name
        if graph.op[node] == _PLACEHOLDER:
            return name, self._record.strings[graph.args[node]], graph.housekeeping[node]
        origin = self._scope(graph.scope[node]), self._stack(graph.stack[node])
        return target, name, *origin, graph.housekeeping[node]

    def _find_target(self, number: int) -> Target | None:
        """A target without its tags, of which each torch has others, and a custom op's schema."""
        if number < 0:
            return None
        target = self._record.targets[number]
        if target.kind == "custom":
            return Target(target.name, target.label, target.kind)
        return msgspec.structs.replace(target, tags=[], core=False)

    def _modules(self, number: int) -> Hashable:
        """The modules from the innermost to the root, whose name is the call's title."""
        items: list[tuple[str, str, int]] = []
        while number >= 0:
            scope = self._record.scopes[number]
            items.append((scope.path, scope.cls, scope.call))
            number = scope.parent
        return tuple(items)

    def _lines(self, number: int) -> Hashable:
        record = self._record
        file, line, function = record.frames.file, record.frames.line, record.frames.function
        return tuple(
            (
                record.files[file[frame]].path,
                line[frame],
                record.strings[function[frame]],
            )
            for frame in (items_of(record.stacks, number) if number >= 0 else ())
        )


def _entries(record: Record, read: Record) -> list[Any]:
    """Inputs and outputs, without the numbers of their nodes, their paths, and unread bytes."""
    signature, types = record.signature, record.types
    read_bytes = chain((entry.bytes for entry in read.signature.inputs), repeat(0))
    inputs = [
        (
            *(entry.kind, entry.name, types[entry.type].text, entry.target, entry.constant),
            entry.bytes if size else 0,
            entry.persistent if entry.kind == "buffer" else None,
        )
        for entry, size in zip(signature.inputs, read_bytes, strict=False)
    ]
    outputs = [
        (output.kind, output.name, types[output.type].text, output.target, output.constant)
        for output in signature.outputs
    ]
    return [inputs, outputs]


def _containers(record: Record) -> tuple[str, str]:
    """Specs of a call's inputs and outputs; empty if unread, or missing in an older Record."""
    return record.signature.takes, record.signature.returns


def _paths(record: Record) -> list[str]:
    """Where the caller passes and finds each input and output."""
    inputs = [entry.path for entry in record.signature.inputs]
    return inputs + [output.path for output in record.signature.outputs]


def _facts(symbol: Symbol) -> tuple[Any, ...]:
    return symbol.example, symbol.name, symbol.kind, symbol.lower, symbol.upper
