"""The differences of two programs, for a terminal, a review and a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.rendering.attempt_text import counted, cut, width
from explorer.rendering.escape import escaped, harmless
from explorer.session import Session
from explorer.session_entry import Entry

if TYPE_CHECKING:
    from export_engine.record import Difference, GraphDiff, Pair, ProgramDiff, Record, RenamedScope

_MOST = 40
"""Differences that a terminal shows; the rest is counted."""


class Comparison:
    """The difference of two programs, up to the names of nodes and symbols.

    Show it by leaving it on the last line of a cell, `print` it, or use `ok` in a test.
    """

    def __init__(self, before: Entry, after: Entry) -> None:
        """Compare.

        Args:
            before: an attempt that exported.
            after: another.

        Raises:
            ValueError: one of them has no program.
        """
        from export_engine.diff import diff_records

        self._entries = before, after
        self.before = before.record
        self.after = after.record
        self.diff: ProgramDiff = diff_records(self.before, self.after)

    @property
    def ok(self) -> bool:
        """Whether the programs are identical up to names."""
        return not self.diff.others and not any(
            graph.added or graph.removed or any(pair.changes for pair in graph.pairs)
            for graph in self.diff.graphs
        )

    @property
    def summary(self) -> str:
        """A line: `2 ops changed, 1 added, none removed of 1,187`."""
        if self.ok:
            return f"Identical up to names: {counted(self._ops(), 'op')}."
        changed = sum(_is_changed(pair) for graph in self.diff.graphs for pair in graph.pairs)
        added = sum(len(_lone(self.after, each.after, each.added)) for each in self.diff.graphs)
        removed = sum(
            len(_lone(self.before, each.before, each.removed)) for each in self.diff.graphs
        )
        parts = [
            f"{counted(changed, 'node')} changed",
            f"{added:,} added",
            f"{removed:,} removed",
        ]
        if self.diff.others:
            parts.append(f"{counted(len(self.diff.others), 'other difference')}")
        return f"{', '.join(parts)}; {counted(self._ops(), 'op')} before."

    def lines(self, most: int = _MOST) -> list[str]:
        """The differences, a few lines each, as wide as the terminal.

        Args:
            most: how many ops to show.
        """
        shown = [cut(f"{self.diff.before}  →  {self.diff.after}"), cut(self.summary)]
        if self.diff.symbols:
            names = ", ".join(f"{old} → {new}" for old, new in self.diff.symbols)
            shown.append(cut(f"the same under different names: {names}"))
        blocks = [block for at in range(len(self.diff.graphs)) for block in self._graph(at)]
        blocks += [_renamed(each) for each in self.diff.renamed]
        for block in blocks[:most]:
            shown += block
        if len(blocks) > most:
            shown.append(f"… {len(blocks) - most:,} more nodes")
        moved = {at for scope in self.diff.renamed for at in scope.others}
        others = [each for at, each in enumerate(self.diff.others) if at not in moved]
        for each in others[:most]:
            name = f"{each.kind} {each.name}" if each.kind not in each.name else each.name
            shown += _changed(name, each.before, each.after)
            shown += _both(_guard_place(self.before, each), _guard_place(self.after, each))
        if len(others) > most:
            shown.append(f"… {len(others) - most:,} more")
        return shown

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def to_html(self, path: str | Path) -> Path:
        """Writes one HTML file with both programs, compared.

        Raises:
            OSError: the file cannot be written.
            FrontEndMissing: the front end was not built.
        """
        from explorer.report import write_report

        return write_report(self.session(), path, compared=0)

    def session(self) -> Session:
        """Both programs as attempts of one session, the second on screen."""
        first, second = (
            each.changed(parent=at - 1, step=f"{each.record.title}, {each.label}")
            for at, each in enumerate(self._entries)
        )
        session = Session([first, second])
        session.use(1)
        return session

    def _repr_mimebundle_(self, **options: Any) -> Any:
        from explorer.session_widget import widget_of
        from widgets import FrontEndMissing

        still = {"text/plain": str(self), "text/html": f"<pre>{escaped(str(self))}</pre>"}
        try:
            widget = widget_of(self.session(), still, compared=0)
        except FrontEndMissing:
            return still
        return widget._repr_mimebundle_(**options)

    def _graph(self, number: int) -> Iterator[list[str]]:
        """What changed in a graph, in the order of the program, removed before added."""
        graph = self.diff.graphs[number]
        mine, theirs = self.before.graphs[graph.before], self.after.graphs[graph.after]
        within = "" if graph.title == "main" else f"{graph.title.removeprefix('main.')}: "
        moved = {at for scope in self.diff.renamed for at in scope.pairs[number]}
        for at, pair in enumerate(graph.pairs):
            if _is_changed(pair) and at not in moved:
                title = f"~ {within}{_node(self.before, mine, pair.before)}"
                yield [cut(title), *_changes(pair), *self._places(graph, pair)]
        told: set[int] = set()
        for each in graph.became:
            told.update(each.after)
            title = cut(f"~ {within}{_node(self.before, mine, each.before[0])}")
            rest = [f"    with {_node(self.before, mine, node)}" for node in each.before[1:]]
            new = [f"    became {_node(self.after, theirs, node)}" for node in each.after]
            yield [title, *(cut(line) for line in (*rest, *new))]
        replaced = {node for each in graph.became for node in each.before}
        for node in _lone(self.before, graph.before, graph.removed):
            if node not in replaced:
                title = cut(f"- {within}{_node(self.before, mine, node)}")
                yield [title, *_at(_place(self.before, mine, node))]
        for node in _lone(self.after, graph.after, graph.added):
            if node in told:
                continue
            title = cut(f"+ {within}{_node(self.after, theirs, node)}")
            yield [title, *_at(_place(self.after, theirs, node))]

    def _places(self, graph: GraphDiff, pair: Pair) -> list[str]:
        """The line of an op in each program."""
        old = _place(self.before, self.before.graphs[graph.before], pair.before)
        new = _place(self.after, self.after.graphs[graph.after], pair.after)
        return _both(old, new)

    def _ops(self) -> int:
        from export_engine.record import count_ops

        return sum(count_ops(graph.op) for graph in self.before.graphs)


def _is_changed(pair: Pair) -> bool:
    """Whether a node itself differs, and not only its inputs."""
    return any(not change.follows for change in pair.changes)


def _renamed(scope: RenamedScope) -> list[str]:
    """`~ scope layers.57.attn → layers.57.attention`, and what moved; the root has no path."""
    held = f" and {counted(len(scope.others) // 2, 'input')}" if scope.others else ""
    nodes = counted(sum(map(len, scope.pairs)), "node")
    return [
        cut(f"~ scope {scope.before or 'the root'} → {scope.after or 'the root'}"),
        cut(f"    {nodes}{held}, otherwise the same"),
    ]


def _lone(record: Record, graph: int, nodes: list[int]) -> list[int]:
    """Nodes without a partner, but inputs: the differences of the signature tell of those."""
    from export_engine.record import OPS

    ops = record.graphs[graph].op
    return [node for node in nodes if graph or OPS[ops[node]] != "placeholder"]


def _node(record: Record, graph: Any, node: int) -> str:
    """`linear_3 = aten.linear.default in layers.2.mlp: f32[batch, 8]`."""
    target = record.targets[graph.target[node]].name if graph.target[node] >= 0 else ""
    scope = record.scopes[graph.scope[node]].path if graph.scope[node] >= 0 else ""
    kind = record.types[graph.type[node]].text if graph.type[node] >= 0 else ""
    text = record.strings[graph.name[node]]
    text += f" = {target}" if target else ""
    text += f" in {scope}" if scope else ""
    return f"{text}: {kind}" if kind else text


def _changes(pair: Pair) -> Iterator[str]:
    for change in pair.changes:
        if not change.follows:
            yield from _changed(change.what, change.before, change.after, "    ")


def _changed(name: str, before: str, after: str, indent: str = "  ") -> list[str]:
    """One line if it fits, else one for each side."""
    one = f"{indent}{name}: {before or 'none'} → {after or 'none'}"
    if len(harmless(one)) <= width():
        return [cut(one)]
    return [
        cut(f"{indent}{name}:"),
        cut(f"{indent}  - {before or 'none'}"),
        cut(f"{indent}  + {after or 'none'}"),
    ]


def _place(record: Record, graph: Any, node: int) -> str:
    """The source line of an op: `model.py:12`; empty if unknown."""
    return _line(record, graph.stack[node])


def _guard_place(record: Record, difference: Difference) -> str:
    """The line of the guard that a program has, or of the one that bounds its symbol."""
    if difference.kind == "guard":
        found = [each for each in record.guards if each.text == difference.name]
    elif difference.kind == "symbol":
        symbols = [each for each in record.symbols if each.name == difference.name]
        bounds = [bound for each in symbols for bound in each.bounds]
        found = [record.guards[each.guard] for each in bounds if each.guard >= 0]
    else:
        return ""
    return next(filter(None, (_line(record, each.stack) for each in found)), "")


def _line(record: Record, stack: int) -> str:
    """The line of a stack that the user wrote, if there is one; empty if unknown."""
    from export_engine.source import items_of

    if stack < 0:
        return ""
    frames = [
        (record.files[record.frames.file[frame]], record.frames.line[frame])
        for frame in items_of(record.stacks, stack)
    ]
    own = [frame for frame in frames if frame[0].origin != "torch"]
    file, line = (own or frames)[-1]
    return f"{file.name}:{line}"


def _both(old: str, new: str) -> list[str]:
    """The place in both programs; one, where they are the same."""
    return _at(" → ".join(dict.fromkeys(filter(None, (old, new)))))


def _at(place: str) -> list[str]:
    return [cut(f"    at {place}")] if place else []
