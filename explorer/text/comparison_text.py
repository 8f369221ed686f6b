"""The differences of two programs as text, for a terminal and a review."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from explorer.text.attempt_text import cut, fold, format_count, width
from explorer.text.escape import harmless

if TYPE_CHECKING:
    from export_engine.record import (
        Difference,
        GraphDiff,
        LoneScope,
        Pair,
        ProgramDiff,
        Record,
        RenamedScope,
    )

MOST = 40
"""Differences that a terminal shows; the rest is counted."""


def summary_of(diff: ProgramDiff, before: Record, after: Record) -> str:
    """A line: `2 nodes changed, 1 added, 0 removed; 1,187 ops before`."""
    from export_engine.record import count_ops

    ops = format_count(sum(count_ops(graph.op) for graph in before.graphs), "op")
    if diff.identical:
        return f"Identical up to names: {ops}."
    changed = sum(_is_changed(pair) for graph in diff.graphs for pair in graph.pairs)
    added = sum(len(_lone(after, graph.after, graph.added)) for graph in diff.graphs)
    removed = sum(len(_lone(before, graph.before, graph.removed)) for graph in diff.graphs)
    parts = [f"{format_count(changed, 'node')} changed", f"{added:,} added", f"{removed:,} removed"]
    if diff.others:
        parts.append(f"{format_count(len(diff.others), 'other difference')}")
    return f"{', '.join(parts)}; {ops} before."


class ComparisonText:
    """The lines of a difference."""

    def __init__(self, diff: ProgramDiff, before: Record, after: Record) -> None:
        """Makes none yet.

        Args:
            diff: the difference.
            before: the first program.
            after: the second.
        """
        self._diff = diff
        self._before = before
        self._after = after

    def lines(self, most: int = MOST) -> list[str]:
        """The differences, a few lines each, as wide as the terminal.

        Args:
            most: how many ops to show.
        """
        shown = [
            cut(f"{self._diff.before}  →  {self._diff.after}"),
            fold(summary_of(self._diff, self._before, self._after)),
        ]
        if self._diff.symbols:
            names = ", ".join(f"{old} → {new}" for old, new in self._diff.symbols)
            shown.append(fold(f"the same under different names: {names}"))
        blocks = [block for at in range(len(self._diff.graphs)) for block in self._graph(at)]
        blocks += [_describe_renaming(scope) for scope in self._diff.renamed]
        for block in blocks[:most]:
            shown += block
        if len(blocks) > most:
            shown.append(f"… {len(blocks) - most:,} more nodes")
        moved = {at for scope in self._diff.renamed for at in scope.others}
        moved |= {at for module in self._diff.modules for at in module.others}
        others = [other for at, other in enumerate(self._diff.others) if at not in moved]
        for difference in others[:most]:
            name = (
                f"{difference.kind} {difference.name}"
                if difference.kind not in difference.name
                else difference.name
            )
            shown += _describe_change(name, difference.before, difference.after)
            shown += _both(
                _guard_place(self._before, difference), _guard_place(self._after, difference)
            )
        if len(others) > most:
            shown.append(f"… {len(others) - most:,} more")
        return shown

    def _graph(self, number: int) -> Iterator[list[str]]:
        """Changes in a graph, in the order of the program, removed before added."""
        graph = self._diff.graphs[number]
        mine, theirs = self._before.graphs[graph.before], self._after.graphs[graph.after]
        within = "" if graph.title == "main" else f"{graph.title.removeprefix('main.')}: "
        moved = {at for scope in self._diff.renamed for at in scope.pairs[number]}
        for at, pair in enumerate(graph.pairs):
            if _is_changed(pair) and at not in moved:
                title = f"~ {within}{_node(self._before, mine, pair.before)}"
                yield [cut(title), *_changes(pair), *self._places(graph, pair)]
        for became in graph.became:
            title = cut(f"~ {within}{_node(self._before, mine, became.before[0])}")
            rest = [f"    with {_node(self._before, mine, node)}" for node in became.before[1:]]
            new = [f"    became {_node(self._after, theirs, node)}" for node in became.after]
            yield [title, *(cut(line) for line in (*rest, *new))]
        gone = {node for became in graph.became for node in became.before}
        yield from self._of_one(number, "removed", f"- {within}", gone)
        nodes = {node for became in graph.became for node in became.after}
        yield from self._of_one(number, "added", f"+ {within}", nodes)

    def _of_one(
        self, number: int, kind: Literal["added", "removed"], start: str, known: set[int]
    ) -> Iterator[list[str]]:
        """Modules and nodes that only one of the programs has, without those that are known."""
        both = self._diff.graphs[number]
        record, at, nodes = (
            (self._after, both.after, both.added)
            if kind == "added"
            else (self._before, both.before, both.removed)
        )
        for module in self._diff.modules:
            if (module.graph, module.kind) == (number, kind):
                known = known | set(module.nodes)
                yield [cut(f"{start}{_describe_module(module)}")]
        graph = record.graphs[at]
        for node in _lone(record, at, nodes):
            if node not in known:
                title = cut(f"{start}{_node(record, graph, node)}")
                yield [title, *_at(_place(record, graph, node))]

    def _places(self, graph: GraphDiff, pair: Pair) -> list[str]:
        """The line of an op in each program."""
        old = _place(self._before, self._before.graphs[graph.before], pair.before)
        new = _place(self._after, self._after.graphs[graph.after], pair.after)
        return _both(old, new)


def _is_changed(pair: Pair) -> bool:
    """Whether a node itself differs, and not only its inputs."""
    return any(not change.follows for change in pair.changes)


def _describe_module(module: LoneScope) -> str:
    """`module blocks.3 (Block): 18 nodes and 10 inputs`."""
    return (
        f"module {module.path} ({module.cls}): {_contents(len(module.nodes), len(module.others))}"
    )


def _contents(nodes: int, inputs: int) -> str:
    held = f" and {format_count(inputs, 'input')}" if inputs else ""
    return f"{format_count(nodes, 'node')}{held}"


def _describe_renaming(scope: RenamedScope) -> list[str]:
    """`~ scope layers.57.attn → layers.57.attention`, and what moved; the root has no path."""
    moved = _contents(sum(map(len, scope.pairs)), len(scope.others) // 2)
    return [
        cut(f"~ scope {scope.before or 'the root'} → {scope.after or 'the root'}"),
        fold(f"    {moved}, otherwise the same"),
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
    target = target or _held(record, graph, node)
    text += f" = {target}" if target else ""
    text += f" in {scope}" if scope else ""
    return f"{text}: {kind}" if kind else text


def _held(record: Record, graph: Any, node: int) -> str:
    """The tensor of the module behind a placeholder: `parameter lin.weight`; empty for others."""
    inputs = record.signature.inputs if graph is record.graphs[0] else []
    entries = (entry for entry in inputs if entry.node == node and entry.target)
    return next((f"{entry.kind.replace('_', ' ')} {entry.target}" for entry in entries), "")


def _changes(pair: Pair) -> Iterator[str]:
    for change in pair.changes:
        if not change.follows:
            yield from _describe_change(change.what, change.before, change.after, "    ")


def _describe_change(name: str, before: str, after: str, indent: str = "  ") -> list[str]:
    """One line if it fits, else one for each side."""
    one = f"{indent}{name}: {before or 'none'} → {after or 'none'}"
    if len(harmless(one)) <= width():
        return [fold(one)]
    return [
        cut(f"{indent}{name}:"),
        fold(f"{indent}  - {before or 'none'}"),
        fold(f"{indent}  + {after or 'none'}"),
    ]


def _place(record: Record, graph: Any, node: int) -> str:
    """The source line of an op: `model.py:12`; empty if unknown."""
    return _line(record, graph.stack[node])


def _guard_place(record: Record, difference: Difference) -> str:
    """The line of the guard that a program has, or of the one that bounds its symbol."""
    if difference.kind == "guard":
        guards = [guard for guard in record.guards if guard.text == difference.name]
    elif difference.kind == "symbol":
        symbols = [symbol for symbol in record.symbols if symbol.name == difference.name]
        bounds = [bound for symbol in symbols for bound in symbol.bounds]
        guards = [record.guards[bound.guard] for bound in bounds if bound.guard >= 0]
    else:
        return ""
    return next(filter(None, (_line(record, guard.stack) for guard in guards)), "")


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
