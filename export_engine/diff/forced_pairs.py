"""The one way in which the nodes of two graphs can be the same: pairs that are forced.

From the output down, position by position, every node has one possible partner; what the output
does not read, such as an assert or an op in place, has the partners of its inputs as its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from export_engine.diff.calls import blank, read_call
from export_engine.record import OPS, Graph, InputEntry, OutputEntry, Record
from export_engine.source import items_of

_PLACEHOLDER, _GET_ATTR = OPS.index("placeholder"), OPS.index("get_attr")
_GETITEM = "operator.getitem"
_INDEX = re.compile(r"\(\{0\}, (-?\d+)\)")
_ON_SIZES = frozenset(
    f"operator.{name}" for name in ("add", "sub", "mul", "neg", "eq", "ne", "lt", "le", "gt", "ge")
) | {"aten.sym_numel.default"}
"""Ops that read or compute sizes, and raise for none."""
_OF_A_DIM = ("aten.sym_size.int", "aten.sym_stride.int")
"""Ops that raise where there is no such dim."""
_DIVISIONS, _BY_A_NUMBER = ("operator.floordiv", "operator.mod"), re.compile(r"\(.*, -?[1-9]\d*\)")
_ASSERT, _EQUAL = "aten._assert_scalar.default", "operator.eq"

What = Literal["op", "arguments", "inputs", "type", "order"]

GraphPair = tuple[int, int]
"""A graph of each program, by number."""


class Nested(NamedTuple):
    """A graph that a node runs, with that which its partner runs in its place."""

    before: int
    after: int
    argument: str


@dataclass(eq=False)
class Mismatch(Exception):
    """Where two programs are not the same."""

    graphs: GraphPair
    node: int
    """The node of the first program; -1 if it has none."""
    partner: int
    what: What
    before: str
    after: str


def find_left_out(record: Record, number: int) -> set[int]:
    """The nodes of a graph that do nothing, as a result that nobody reads.

    Args:
        record: of the program.
        number: of the graph.
    """
    side = _Side(record, number)
    return {node for node in range(len(side)) if side.is_left_out(node)}


class _Side:
    """One graph of a program."""

    def __init__(self, record: Record, number: int) -> None:
        self.record = record
        self.graph: Graph = record.graphs[number]
        self.inputs = [items_of(self.graph.inputs, node) for node in range(len(self.graph.name))]
        self.is_read = bytearray(len(self.inputs))
        for node in range(len(self.inputs) - 1, -1, -1):
            if not self.is_left_out(node):
                for input_number in self.inputs[node]:
                    self.is_read[input_number] = 1
        self.holders = {nested_graph.holder for nested_graph in self.graph.nested}

    def __len__(self) -> int:
        return len(self.inputs)

    def name(self, node: int) -> str:
        return self.record.strings[self.graph.name[node]]

    def target(self, node: int) -> str:
        number = self.graph.target[node]
        return self.record.targets[number].name if number >= 0 else ""

    def args(self, node: int) -> str:
        return self.record.strings[self.graph.args[node]]

    def schema(self, node: int) -> str:
        """The schema of a node's op; empty where it has none."""
        number = self.graph.target[node]
        return self.record.targets[number].schema if number >= 0 else ""

    def held(self, node: int) -> str:
        """The tensor that a get_attr names."""
        text = self.args(node)
        return text if text != "()" else self.name(node)

    def contents(self, node: int) -> str:
        """A called module's class, as far as known; empty for any other node."""
        number = self.graph.target[node]
        target = self.record.targets[number] if number >= 0 else None
        return target.schema if target and target.kind == "module" else ""

    def is_opaque(self, node: int) -> bool:
        """Whether what a node calls is not known: a module of the user's class, a lambda."""
        return self.contents(node).startswith("<") or "<" in self.target(node)

    def kind(self, node: int) -> tuple[int, str, str]:
        return self.graph.op[node], self.target(node), self.contents(node)

    def names_of_inputs(self, node: int) -> str:
        return ", ".join(self.name(number) for number in self.inputs[node])

    def placeholders(self) -> list[int]:
        return [node for node, op in enumerate(self.graph.op) if op == _PLACEHOLDER]

    def is_left_out(self, node: int) -> bool:
        """Whether it does nothing: it cannot fail, and nobody reads it.

        Saving adds a getitem for each result; tracing an assert of `a != b` again leaves an
        unused comparison; one of two sizes that torch knows as the same asserts that a size is
        itself.
        """
        if self.is_read[node]:
            return False
        target = self.target(node)
        if target == _GETITEM:
            return self._is_there(node)
        if target in _OF_A_DIM:
            return self._has_dim(node)
        if target in _DIVISIONS:
            return _BY_A_NUMBER.fullmatch(self.args(node)) is not None and self._is_number(node)
        if target == _ASSERT:
            return any(map(self._is_true, self.inputs[node]))
        return target in _ON_SIZES and self._is_number(node)

    def _has_dim(self, node: int) -> bool:
        """Whether the tensor that a size is read of has the dim."""
        index = _INDEX.fullmatch(self.args(node))
        number = self.graph.type[self.inputs[node][0]] if len(self.inputs[node]) else -1
        if index is None or number < 0:
            return False
        dims = len(self.record.types[number].shape)
        return -dims <= int(index[1]) < dims

    def _is_number(self, node: int) -> bool:
        number = self.graph.type[node]
        return number >= 0 and self.record.types[number].kind in ("int", "float", "bool")

    def _is_true(self, node: int) -> bool:
        """Whether it compares a size with itself."""
        compared = self.inputs[node] if self.target(node) == _EQUAL else ()
        return len(compared) == 2 and len({*compared}) == 1

    def _is_there(self, node: int) -> bool:
        """Whether the op that a getitem reads has so many results; without, it raises."""
        number = self.graph.type[self.inputs[node][0]] if len(self.inputs[node]) else -1
        index = _INDEX.fullmatch(self.args(node))
        if number < 0 or index is None:
            return False
        kind = self.record.types[number]
        return kind.kind != "tuple" or -len(kind.items) <= int(index[1]) < len(kind.items)


class Walk:
    """The pairs of nodes of two graphs."""

    def __init__(self, before: Record, after: Record, graphs: GraphPair) -> None:
        self.graphs = graphs
        self.one, self.other = _Side(before, graphs[0]), _Side(after, graphs[1])
        self.partner: dict[int, int] = {}
        self._origin: dict[int, int] = {}
        self.renamed: list[tuple[int, int]] = []
        self._entries: tuple[dict[int, InputEntry], dict[int, InputEntry]] = ({}, {})
        self._targets: tuple[set[str], ...] = ()
        """Names of the weights of each program."""
        self._waiting: list[tuple[int, int]] = []

    def run(self) -> None:
        """Raises Mismatch where the graphs cannot be paired."""
        outputs = len(self.one) - 1, len(self.other) - 1
        self._pair_inputs()
        if -1 in outputs:  # a GraphModule to which no node was added yet
            if outputs == (-1, -1):
                return
            raise self.mismatch(
                -1, "op", *(f"{len(side)} nodes" for side in (self.one, self.other))
            )
        self._meet(*outputs, None)
        self._follow()
        if self.graphs == (0, 0):
            self._check_outputs(*outputs)
        self._pair_unread()

    def in_order(self) -> list[int]:
        """The paired nodes of the first graph."""
        return sorted(self.partner)

    def schema(self, node: int) -> str:
        """The schema of a node's op, as far as either program has it."""
        for side, at in ((self.one, node), (self.other, self.partner.get(node, -1))):
            if at >= 0 and (schema := side.schema(at)):
                return schema
        return ""

    def mismatch(
        self,
        node: int,
        what: Literal["op", "arguments", "inputs", "type", "order"],
        before: str,
        after: str,
    ) -> Mismatch:
        """A difference of a node and its partner."""
        return Mismatch(self.graphs, node, self.partner.get(node, -1), what, before, after)

    def places(self, node: int) -> tuple[str, str]:
        """The position of a node in each graph: `before mul`, `after mul`."""
        return tuple(
            f"after {side.name(at - 1)}" if at else "first"
            for side, at in ((self.one, node), (self.other, self.partner[node]))
        )  # type: ignore[return-value]

    def iter_nested(self) -> Iterator[Nested]:
        """The graphs that paired nodes run, each with that which its partner runs there."""
        ours, theirs = self.one.graph.nested, self.other.graph.nested
        named = any(nested_graph.holder < 0 for nested_graph in (*ours, *theirs))
        left = {
            (
                nested_graph.node,
                nested_graph.argument if named else nested_graph.holder,
            ): nested_graph
            for nested_graph in theirs
        }
        for inner in ours:
            place = inner.argument if named else self.partner.get(inner.holder, -1)
            nested_graph = left.pop((self.partner[inner.node], place), None)
            if nested_graph is None:
                raise self.mismatch(inner.node, "arguments", inner.argument, "")
            yield Nested(inner.graph, nested_graph.graph, inner.argument)
        for inner in left.values():
            raise self.mismatch(self._origin[inner.node], "arguments", "", inner.argument)

    def _pair_inputs(self) -> None:
        """User inputs and those of nested graphs by position, weights by name."""
        if self.graphs != (0, 0):
            ones, others = self.one.placeholders(), self.other.placeholders()
        else:
            self._entries = _entries(self.one), _entries(self.other)
            self._targets = tuple(
                {entry.target for entry in side.values()} for side in self._entries
            )
            users = [
                [node for node, entry in side.items() if entry.kind in ("user_input", "token")]
                for side in self._entries
            ]
            ones, others = users
            named: dict[tuple[str, str], list[int]] = defaultdict(list)
            for node, entry in self._entries[1].items():
                if node not in others:
                    named[entry.kind, entry.target].append(node)
            for node, entry in self._entries[0].items():
                if named[entry.kind, entry.target] and node not in ones:
                    self._meet(node, named[entry.kind, entry.target].pop(0), None)
        if len(ones) != len(others):
            names = [
                ", ".join(side.name(node) for node in nodes)
                for side, nodes in ((self.one, ones), (self.other, others))
            ]
            raise self.mismatch(len(self.one) - 1, "inputs", *names)
        for node, twin in zip(ones, others, strict=True):
            self._meet(node, twin, None)

    def _follow(self) -> None:
        """Pairs what paired nodes read, position by position."""
        while self._waiting:
            node, twin = self._waiting.pop()
            for source, now in self._inputs(node, twin):
                self._meet(source, now, node)

    def _meet(self, node: int, twin: int, reader: int | None) -> None:
        """Pairs two nodes that the same input of `reader` and its partner is."""
        if self.partner.get(node) == twin:
            return
        is_known = node in self.partner or twin in self._origin
        if is_known or not self._may_pair(node, twin):
            if reader is None:
                kinds = [
                    side.target(at) or OPS[side.graph.op[at]]
                    for side, at in ((self.one, node), (self.other, twin))
                ]
                raise self.mismatch(node, "op", *kinds)
            raise self._rewiring_mismatch(reader)
        self.partner[node], self._origin[twin] = twin, node
        self._waiting.append((node, twin))

    def _rewiring_mismatch(self, reader: int) -> Mismatch:
        twin = self.partner[reader]
        names = self.one.names_of_inputs(reader), self.other.names_of_inputs(twin)
        return self.mismatch(reader, "inputs", *names)

    def _may_pair(self, node: int, twin: int) -> bool:
        if self.one.kind(node) != self.other.kind(twin):
            return False
        op = self.one.graph.op[node]
        if op == _GET_ATTR:
            runs = node in self.one.holders, twin in self.other.holders
            return all(runs) or (not any(runs) and self.one.held(node) == self.other.held(twin))
        if op == _PLACEHOLDER and self.graphs == (0, 0):
            return self._is_same_entry(node, twin)
        return True

    def _is_same_entry(self, node: int, twin: int) -> bool:
        """Whether two placeholders are the same input, or one weight under a new name."""
        one, other = self._entries[0].get(node), self._entries[1].get(twin)
        if one is None or other is None:
            return one is other
        if (one.kind, one.constant) != (other.kind, other.constant):
            return False
        if one.target != other.target:
            if one.target in self._targets[1] or other.target in self._targets[0]:
                return False
            self.renamed.append((node, twin))
        return True

    def _inputs(self, node: int, twin: int) -> Iterator[tuple[int, int]]:
        """Which input of a node corresponds to which of another with the same op."""
        ours, theirs = self.one.inputs[node], self.other.inputs[twin]
        texts = self.one.args(node), self.other.args(twin)
        if texts[0] == texts[1] and len(ours) == len(theirs):
            return zip(ours, theirs, strict=True)
        calls = [read_call(text, self.schema(node)) for text in texts]
        places = [
            {name: argument.inputs for name, argument in call.items() if argument.inputs}
            for call in calls
        ]
        counts = [{name: len(numbers) for name, numbers in side.items()} for side in places]
        if counts[0] != counts[1]:
            if len(ours) == len(theirs):
                raise self.mismatch(node, "arguments", *map(blank, texts))
            raise self._rewiring_mismatch(node)
        return (
            (ours[one], theirs[other])
            for name in places[0]
            for one, other in zip(places[0][name], places[1][name], strict=True)
        )

    def _check_outputs(self, node: int, twin: int) -> None:
        """The outputs of the signatures: kinds, names of what is written, values in order."""
        ours, theirs = (side.record.signature.outputs for side in (self.one, self.other))
        texts = ["", ""]
        for one, other in zip(ours, theirs, strict=False):
            own = one.kind, one.constant, self.partner.get(one.node, -1)
            same = own == (other.kind, other.constant, other.node)
            texts = [f"{output.kind.replace('_', ' ')} {output.name}" for output in (one, other)]
            if not same or self._write_target(one) != other.target:
                raise self.mismatch(node, "inputs", *texts)
        if len(ours) != len(theirs):
            raise self.mismatch(node, "inputs", f"{len(ours)} outputs", f"{len(theirs)} outputs")

    def _write_target(self, output: OutputEntry) -> str:
        """The second program's name for the target that an output of the first writes to."""
        for node, entry in self._entries[0].items():
            name = entry.name if "user_input" in output.kind else entry.target
            if output.target and output.target == name:
                twin = self._entries[1].get(self.partner.get(node, -1))
                return "" if twin is None else twin.target or twin.name
        return output.target

    def _pair_unread(self) -> None:
        """Pairs what no output depends on, from its last ops down.

        The last of them pair with those that do the same to the same values; of several alike, in
        order.
        """
        forms: dict[Hashable, int] = {}
        turned = {twin: node for node, twin in self.partner.items()}
        ours = self._last_ops(self.one, {node: node for node in self.partner}, forms)
        theirs = self._last_ops(self.other, turned, forms)
        for form in {**ours, **theirs}:
            nodes, twins = ours.get(form, []), theirs.get(form, [])
            for node, twin in zip(nodes, twins, strict=False):
                self._meet(node, twin, None)
                self._follow()
            for node in nodes[len(twins) :]:
                raise self.mismatch(node, "op", self.one.name(node), "")
            for twin in twins[len(nodes) :]:
                raise Mismatch(self.graphs, -1, twin, "op", "", self.other.name(twin))

    def _last_ops(
        self, side: _Side, paired: Mapping[int, int], forms: dict[Hashable, int]
    ) -> dict[int, list[int]]:
        """The unpaired nodes that nobody reads, by their forms.

        Args:
            side: whose.
            paired: its paired nodes, as numbers of the first program's.
            forms: per op, arguments and forms of inputs a number; those of both programs.
        """
        # A file holds no schema of a custom op.
        targets = (target for walked in (self.one, self.other) for target in walked.record.targets)
        schemas = {target.name: target.schema for target in targets if target.schema}
        form: dict[int, int] = {}
        last: dict[int, list[int]] = defaultdict(list)
        for node in range(len(side)):
            if node in paired or side.is_left_out(node):
                continue
            inputs = tuple(
                form.get(number, ~paired.get(number, -1)) for number in side.inputs[node]
            )
            call = read_call(side.args(node), schemas.get(side.target(node), ""))
            texts = tuple((name, argument.text) for name, argument in call.items())
            key = side.kind(node), texts if side.graph.op[node] != _GET_ATTR else (), inputs
            form[node] = forms.setdefault(key, len(forms))
            if not side.is_read[node]:
                last[form[node]].append(node)
        return last


def _entries(side: _Side) -> dict[int, InputEntry]:
    """The entries of the signature by their nodes."""
    return {entry.node: entry for entry in side.record.signature.inputs if entry.node >= 0}
