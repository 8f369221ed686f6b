"""A graph printed as Python, as torch prints it, with sizes and lines in the user's terms.

Written from the Record alone, so that a loaded program, a report and a notebook print the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from export_engine.record import OPS, Graph, Ragged, Record
from export_engine.source.text import source_line

_HOLE = re.compile(r"\{(\d+)\}|\{\{|\}\}")


class Printed(NamedTuple):
    """A printed graph."""

    lines: list[str]
    nodes: list[int]
    """Per line, the node it defines; -1 for none."""


def print_graph(record: Record, graph: int) -> Printed:
    """The text of one of the Record's graphs.

    Raises:
        IndexError: the record has no such graph.
    """
    if not 0 <= graph < len(record.graphs):
        raise IndexError(f"the record has no graph {graph}")
    return _Printer(record, record.graphs[graph]).text()


class _Printer:
    def __init__(self, record: Record, graph: Graph) -> None:
        self._record = record
        self._graph = graph
        self._names = [record.strings[number] for number in graph.name]
        self._lines: list[str] = []
        self._nodes: list[int] = []
        self._place = ""

    def text(self) -> Printed:
        graph = self._graph
        ops = [OPS[op] for op in graph.op]
        inputs = [node for node, op in enumerate(ops) if op == "placeholder"]
        self._add("def forward(")
        self._add("    self,")
        for node in inputs:
            self._add(f"    {self._definition(node)},", node)
        self._add("):")
        for node, op in enumerate(ops):
            if op != "placeholder":
                self._statement(node, op)
        return Printed(self._lines, self._nodes)

    def _statement(self, node: int, op: str) -> None:
        arguments = self._arguments(node)
        if op == "output":
            self._add(f"    return {arguments[1:-1]}", node)
            return
        self._comment(node)
        if op == "get_attr":
            named = arguments[2:-2] or self._names[node]
            self._add(f"    {self._definition(node)} = self.{named}", node)
            return
        target = self._record.targets[self._graph.target[node]]
        prefix = "" if target.kind in ("python", "module") else "torch.ops."
        called = f"self.{target.name}" if target.kind == "module" else f"{prefix}{target.name}"
        self._add(f"    {self._definition(node)} = {called}{arguments}", node)

    def _definition(self, node: int) -> str:
        text = self._record.types[self._graph.type[node]].text
        return f'{self._names[node]}: "{text}"' if text else self._names[node]

    def _arguments(self, node: int) -> str:
        template = self._record.strings[self._graph.args[node]]
        inputs = items_of(self._graph.inputs, node)

        def fill(hole: re.Match[str]) -> str:
            number = hole.group(1)
            return self._names[inputs[int(number)]] if number else hole.group()[0]

        return _HOLE.sub(fill, template)

    def _comment(self, node: int) -> None:
        """The user's line, if it differs from the previous statement's."""
        stack = self._graph.stack[node]
        if stack < 0:
            return
        frames = self._record.frames
        frame = items_of(self._record.stacks, stack)[-1]
        file, line = frames.file[frame], frames.line[frame]
        function = self._record.strings[frames.function[frame]]
        place = f"{self._record.files[file].name}:{line} in {function}"
        if place == self._place:
            return
        self._place = place
        code = source_line(self._record, file, line)
        self._add("")
        self._add(f"    # {place}" + (f", code: {code}" if code else ""))

    def _add(self, line: str, node: int = -1) -> None:
        self._lines.append(line.replace("\n", " "))
        self._nodes.append(node)


def items_of(lists: Ragged, index: int) -> Sequence[int]:
    """List `index` of a Ragged."""
    return lists.items[lists.starts[index] : lists.starts[index + 1]]
