"""Graphs as columns: the main graph and the graphs that its nodes run, of whatever made them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from export_engine.describe.file_names import FileNames
from export_engine.describe.scopes import Scopes
from export_engine.describe.source import GraphSource, Node
from export_engine.describe.symbols import Symbols
from export_engine.describe.tables import Stacks, Strings, Table, make_ragged
from export_engine.describe.value_table import Values
from export_engine.record import HOUSEKEEPING, OPS, Graph, NestedGraph, Target
from export_engine.source import Stack, parse_stack_trace, without_repeats

_OP_NUMBERS = {op: number for number, op in enumerate(OPS)}
_OUTSIDE = ("placeholder", "output")
"""Ops that are in no module."""
_SYMBOLIC = ("int", "bool", "float")


class Within(NamedTuple):
    """The origin of the node that runs a nested graph. torch records less inside than outside."""

    scope: int = -1
    stack: Stack = ()


class Graphs:
    """Describes graphs, the nested ones after the one that runs them, with the Record's tables."""

    def __init__(
        self,
        describe_target: Callable[[Any], Target],
        symbols: Symbols,
        title: str,
        modules: Iterable[str],
        files: FileNames,
        most_frames: int | None = None,
    ) -> None:
        """Make one.

        Args:
            describe_target: what a node calls.
            symbols: of the Record.
            title: of the Record; the name of the root module.
            modules: attribute paths of the program's modules.
            files: what its files are called.
            most_frames: of one stack; the outermost of a longer one are left out.
        """
        self.entries: list[Graph] = []
        self.symbols = symbols
        self.strings = Strings()
        self.stacks = Stacks(self.strings, files)
        self.values = Values(symbols)
        self.targets: Table[Any, Target] = Table()
        self._scopes = Scopes(title, modules)
        self._describe_target = describe_target
        self._most_frames = most_frames
        self._stack_numbers: dict[tuple[str, Stack], int] = {}

    def add(self, source: GraphSource, title: str, within: Within | None = None) -> int:
        """Describes a graph and its nested graphs; returns its number.

        Args:
            source: the graph.
            title: its title.
            within: the origin of the node that runs it.
        """
        number = len(self.entries)
        graph = self._columns(source, title, within or Within())
        self.entries.append(graph)
        for node, argument, inner, holder in source.iter_nested():
            below = Within(graph.scope[node], self.stacks.stack(graph.stack[node]))
            nested = self.add(inner, argument, below)
            graph.nested.append(NestedGraph(node, nested, argument, holder))
        return number

    def _columns(self, source: GraphSource, title: str, within: Within) -> Graph:
        ops, targets, types, scopes, stacks, names, args = (array("i") for _ in range(7))
        housekeeping = array("i")
        inputs: list[list[int]] = []
        for node in source.nodes():
            ops.append(_OP_NUMBERS[node.op])
            names.append(self.strings.number(node.name))
            target = -1 if node.target is None else self._target(node.target)
            kind = self.values.number(node.value)
            targets.append(target)
            types.append(kind)
            scopes.append(self._scope(node, within))
            stacks.append(self._stack(node.stack, within))
            args.append(self.strings.number(node.args))
            inputs.append(node.inputs)
            housekeeping.append(node.op == "call_function" and self._is_housekeeping(target, kind))
        return Graph(
            title=title,
            name=names,
            op=ops,
            target=targets,
            type=types,
            scope=scopes,
            stack=stacks,
            args=args,
            inputs=make_ragged(inputs),
            housekeeping=housekeeping,
            nested=[],
        )

    def _target(self, target: Any) -> int:
        number = self.targets.find(target)
        return self.targets.add(target, self._describe_target(target)) if number is None else number

    def _scope(self, node: Node, within: Within) -> int:
        if node.op in _OUTSIDE:
            return -1
        number = self._scopes.number(node.modules)
        return number if number >= 0 else within.scope

    def _stack(self, text: str | None, within: Within) -> int:
        if not text:
            return -1
        number = self._stack_numbers.get((text, within.stack))
        if number is None:
            stack = self._cut(parse_stack_trace(text))
            if within.stack and stack[:1] != within.stack[:1]:
                stack = self._cut(without_repeats([*within.stack, *stack]))
            number = self._stack_numbers[text, within.stack] = self.stacks.number(stack)
        return number

    def _cut(self, stack: Stack) -> Stack:
        return stack if self._most_frames is None else stack[-self._most_frames :]

    def _is_housekeeping(self, target: int, kind: int) -> bool:
        """Whether an op only checks or computes sizes; Python arithmetic in a graph is of sizes."""
        if target < 0:
            return False
        called = self.targets.entries[target]
        if called.name in HOUSEKEEPING or called.name.endswith("sym_constrain_range_for_size"):
            return True
        return called.kind == "python" and self.values.entry(kind).kind in _SYMBOLIC

    def tables(self) -> dict[str, Any]:
        """The fields of a Record that its columns are: graphs and what they point into."""
        return {
            "targets": self.targets.entries,
            "types": self.values.table.entries,
            "expressions": self.symbols.expressions,
            "scopes": self._scopes.table.entries,
            "graphs": self.entries,
            **self.origins(),
        }

    def origins(self) -> dict[str, Any]:
        """Those of them that grow with each stack that is described."""
        return {
            "frames": self.stacks.frames(),
            "stacks": self.stacks.stacks(),
            "files": self.stacks.files.entries,
            "strings": self.strings.entries,
        }
