"""Whether two Records describe the same program: the one read from an archive and one saved in it.

Indices into tables are replaced by the entries. What torch does not keep when it saves a
program is left out: the nodes that stand for nested graphs and what they are called; where an
operator that runs a graph and a `getitem` of its results come from; of a `getitem` when it runs,
that there are two of one result, and the name of one that stands for a list; whether a sequence is
a list or a tuple; and the fields of a class that the file does not name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from export_engine.record import OPS, Graph, InputEntry, Record, Target, split_path
from export_engine.source import items_of

_GET_ATTR = OPS.index("get_attr")
_GETITEM = "operator.getitem"
_LISTS = str.maketrans("[]", "()")


def differences(read: Record, kept: Record) -> Iterator[str]:
    """What the saved Record says differently, in sentences; none if it is of the same program."""
    if kept.outcome != "exported":
        yield "it is of an export that failed"
        return
    if len(read.graphs) != len(kept.graphs):
        yield f"it has {len(kept.graphs)} graphs, and the program {len(read.graphs)}"
        return
    mine, theirs = Resolved(read), Resolved(kept)
    for number, (one, other) in enumerate(zip(read.graphs, kept.graphs, strict=True)):
        here, there = list(mine.nodes(one)), list(theirs.nodes(other))
        if len(here) != len(there):
            yield f"graph {number} has {len(there)} nodes, and that of the program {len(here)}"
        for row, saved in zip(here, there, strict=False):
            if row != saved:
                yield f"node {row['name']} of graph {number} differs: {_differing(row, saved)}"
                break
        if mine.results(one) != theirs.results(other):
            yield f"the results that graph {number} reads differ"
        if mine.nested(one) != theirs.nested(other):
            yield f"graph {number} runs other graphs"
    if mine.entries() != theirs.entries() or not all(
        map(is_same_path, mine.paths(), theirs.paths())
    ):
        yield "its inputs or outputs differ"
    known = theirs.symbols()
    if not all(_same_symbol(value, known.get(name)) for name, value in mine.symbols().items()):
        yield "its symbols differ"


def _same_symbol(read: tuple[Any, ...], kept: tuple[Any, ...] | None) -> bool:
    """Whether they are the same; torch saves no example of an unbacked size, though it has one."""
    if kept is None or read[-1] is not None or "unbacked" not in read:
        return read == kept
    return read[:-1] == kept[:-1]


def is_same_path(read: str, kept: str) -> bool:
    """Whether paths lead to the same leaf of a call.

    A file calls entries of `*args` `args_0`, and numbers the parts of a class whose fields it does
    not name.
    """
    if read == kept or read == kept.replace(".", "_"):
        return True
    mine, theirs = split_path(read) or [read], split_path(kept) or [kept]
    if len(theirs) > 1 and mine[0] == f"{theirs[0]}_{theirs[1]}":
        theirs = [mine[0], *theirs[2:]]
    return len(mine) == len(theirs) and all(
        one == other or one.isdecimal() for one, other in zip(mine, theirs, strict=True)
    )


class Resolved:
    """A Record without numbers into its tables."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._kind = lru_cache(maxsize=None)(self._type)
        self._place = lru_cache(maxsize=None)(self._scope)
        self._lines = lru_cache(maxsize=None)(self._stack)

    def nodes(self, graph: Graph) -> Iterator[dict[str, Any]]:
        """Every node but those that stand for nested graphs or results."""
        record = self._record
        values = self._values(graph)
        for node, op in enumerate(graph.op):
            target = self._called(graph, node)
            if op == _GET_ATTR or _is_getitem(target):
                continue
            made = target is not None and target.kind == "higher_order"
            yield {
                "name": record.strings[graph.name[node]],
                "op": OPS[op],
                "target": _target(target),
                "type": self._kind(graph.type[node]),
                "scope": () if made else self._place(graph.scope[node]),
                "stack": () if made else self._lines(graph.stack[node]),
                "args": _without_brackets(record.strings[graph.args[node]]),
                "inputs": [values[each] for each in items_of(graph.inputs, node)],
                "housekeeping": graph.housekeeping[node],
            }

    def results(self, graph: Graph) -> dict[str, tuple[Any, ...]]:
        """Per result of a call that another node stands for, its type."""
        values = self._values(graph)
        return {
            values[node]: (self._kind(graph.type[node]), graph.housekeeping[node])
            for node in range(len(graph.op))
            if _is_getitem(self._called(graph, node))
        }

    def _values(self, graph: Graph) -> list[str]:
        """What stands for each node where it is read: of a result, the call that gives it."""
        values: list[str] = []
        for node, op in enumerate(graph.op):
            name = "a graph" if op == _GET_ATTR else self._record.strings[graph.name[node]]
            if _is_getitem(self._called(graph, node)):
                args = self._record.strings[graph.args[node]]
                name = "".join(values[each] for each in items_of(graph.inputs, node)) + args
            values.append(name)
        return values

    def _called(self, graph: Graph, node: int) -> Target | None:
        number = graph.target[node]
        return self._record.targets[number] if number >= 0 else None

    def nested(self, graph: Graph) -> list[tuple[str, int]]:
        """The nodes that run graphs, and which."""
        names = self._record.strings
        return [(names[graph.name[each.node]], each.graph) for each in graph.nested]

    def entries(self) -> list[Any]:
        """Inputs and outputs, without the numbers of their nodes and their paths."""
        signature = self._record.signature
        inputs = [
            (
                *(each.kind, each.name, self._kind(each.type), each.target, _persistent(each)),
                *(each.constant, each.bytes),
            )
            for each in signature.inputs
        ]
        outputs = [
            (each.kind, each.name, self._kind(each.type), each.target, each.constant)
            for each in signature.outputs
        ]
        return [inputs, outputs]

    def paths(self) -> list[str]:
        """Where the caller passes and finds each input and output."""
        signature = self._record.signature
        inputs = [each.path for each in signature.inputs]
        return inputs + [each.path for each in signature.outputs]

    def symbols(self) -> dict[str, tuple[Any, ...]]:
        """Per torch's name of a symbol its name, its range and its example."""
        return {
            each.torch_name: (each.name, each.kind, each.lower, each.upper, each.example)
            for each in self._record.symbols
        }

    def _type(self, number: int) -> Hashable:
        if number < 0:
            return None
        entry = self._record.types[number]
        plain = msgspec.json.encode(msgspec.structs.replace(entry, items=[]))
        return (plain, *(self._kind(each) for each in entry.items if each < number))

    def _scope(self, number: int) -> Hashable:
        """The modules from the root on; the root's name is the call's title."""
        found: list[tuple[str, str, int]] = []
        while number >= 0:
            scope = self._record.scopes[number]
            found.append((scope.path, scope.cls, scope.call))
            number = scope.parent
        return tuple(found)

    def _stack(self, number: int) -> Hashable:
        if number < 0:
            return ()
        frames, files = self._record.frames, self._record.files
        return tuple(
            (
                files[frames.file[each]].path,
                frames.line[each],
                self._record.strings[frames.function[each]],
            )
            for each in items_of(self._record.stacks, number)
        )


def _target(target: Target | None) -> Any:
    """What is called; a program does not hold the schema of a custom op.

    Tags are left out: they are those of the torch that described it, and each torch has others.
    """
    if target is None:
        return None
    if target.kind == "custom":
        return target.name, target.kind, target.label
    return msgspec.json.encode(msgspec.structs.replace(target, tags=[], core=False))


def _is_getitem(target: Target | None) -> bool:
    return target is not None and target.name == _GETITEM


def _without_brackets(args: str) -> str:
    """Arguments with lists as tuples."""
    return args.replace(",)", ")").translate(_LISTS)


def _persistent(entry: InputEntry) -> bool | None:
    """Whether a buffer is saved; strict mode of torch 2.13 says so of a constant, too."""
    return entry.persistent if entry.kind == "buffer" else None


def _differing(one: dict[str, Any], other: dict[str, Any]) -> str:
    return ", ".join(key for key in one if one[key] != other[key])
