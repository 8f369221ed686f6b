"""Which ops of a module belong together, read off a Record: what one call of a function made.

A module's own code is how far the stacks of all ops in it go together. Frames of a stack beyond
that are calls of functions: each is a group, with the ops and the modules that it runs. A function
that runs whole layers is not a group, since a reader looks for the layers.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec

from export_engine.record.graph import OPS, Graph, Group
from export_engine.record.mask_and_position_ops import neighbours, plumbing_nodes
from export_engine.record.record import Record

_CALLS = frozenset(OPS.index(op) for op in ("call_function", "call_module", "call_method"))
_DEEPEST = 8
"""So many groups in one another at most."""

_Call = tuple[int, tuple[int, int]]
"""The frame that calls, and the file and the name of the function that it calls."""

OUTERMOST = -1
"""Stands for the graph's outermost module, and for a group of none."""


def with_groups(record: Record) -> Record:
    """The Record with the groups of all its graphs."""
    if not record.graphs:
        return record
    outer: dict[int, int] = {}
    for graph in record.graphs:
        outer.update(
            (nested_graph.graph, graph.scope[nested_graph.node]) for nested_graph in graph.nested
        )
    stacks = _Stacks(record)
    graphs = [
        _group_nodes(record, graph, stacks, outer.get(number, OUTERMOST))
        for number, graph in enumerate(record.graphs)
    ]
    return msgspec.structs.replace(record, graphs=graphs)


def _group_nodes(record: Record, graph: Graph, stacks: _Stacks, outer: int) -> Graph:
    """A graph with its groups; `outer` is the scope of the node that runs it."""
    shown = _visible_nodes(record, graph)
    modules = _Modules(record, outer)
    calls = _Calls(graph, stacks, modules, shown)
    calls.keep_readable()
    plumbing = plumbing_nodes(record, graph)
    groups = calls.groups(plumbing)
    of_node = calls.of_node
    for places in neighbours(
        graph, [node for node in shown if node in plumbing], of_node, groups, modules.of_scope
    ):
        group = of_node[places[0]]
        scope = modules.of_scope(graph.scope[places[0]])
        groups.append(Group("", group, scope, plumbing=True))
        for node in places:
            of_node[node] = len(groups) - 1
    return msgspec.structs.replace(graph, group=array("i", of_node), groups=groups)


def _visible_nodes(record: Record, graph: Graph) -> list[int]:
    """The nodes that stand for themselves: calls, but for checks and for picks of one result."""
    picks = {at for at, target in enumerate(record.targets) if target.label == "getitem"}
    return [
        node
        for node, op in enumerate(graph.op)
        if op in _CALLS and not graph.housekeeping[node] and graph.target[node] not in picks
    ]


class _Stacks:
    """The stacks of a Record, and how far two of them go together."""

    def __init__(self, record: Record) -> None:
        frames, (starts, items) = record.frames, (record.stacks.starts, record.stacks.items)
        self._functions = list(zip(frames.file, frames.function, strict=True))
        self._strings = record.strings
        self._entries = [tuple(items[starts[at] : starts[at + 1]]) for at in range(len(starts) - 1)]
        self._together: dict[tuple[int, int], int] = {}
        self._calls: dict[tuple[int, int], tuple[_Call, ...]] = {}

    def depth(self, stack: int) -> int:
        return len(self._entries[stack])

    def together(self, one: int, other: int) -> int:
        """How many functions two stacks are in together, on whatever line of the last."""
        if one == other:
            return len(self._entries[one])
        number = self._together.get((one, other))
        if number is None:
            number = 0
            for a, b in zip(self._entries[one], self._entries[other], strict=False):
                if self._functions[a] != self._functions[b]:
                    break
                number += 1
                if a != b:
                    break
            self._together[one, other] = number
        return number

    def calls(self, stack: int, depth: int) -> tuple[_Call, ...]:
        """The calls of functions that a stack has below its first `depth` functions."""
        pairs = self._calls.get((stack, depth))
        if pairs is None:
            frames = self._entries[stack][max(depth, 1) - 1 :]
            items = [(at, self._functions[to]) for at, to in pairwise(frames)]
            pairs = self._calls[stack, depth] = tuple(items[:_DEEPEST])
        return pairs

    def name(self, call: _Call) -> str:
        return self._strings[call[1][1]]


class _Modules:
    """The modules that a graph's nodes are in, below the one that it stands for itself."""

    def __init__(self, record: Record, outer: int) -> None:
        self._scopes = record.scopes
        self._outer = outer

    def of_scope(self, scope: int) -> int:
        """The module that a scope stands for in this graph."""
        if scope < 0 or scope == self._outer or self._scopes[scope].parent < 0:
            return OUTERMOST
        return scope

    def parent(self, module: int) -> int:
        return self.of_scope(self._scopes[module].parent)

    def path(self, module: int) -> list[int]:
        """The module and those that it is in, the outermost left out."""
        modules: list[int] = []
        while module != OUTERMOST:
            modules.append(module)
            module = self.parent(module)
        return modules


@dataclass
class _Running:
    """A call of a function while its ops are gathered."""

    call: _Call
    module: int
    parent: int
    ops: int = 0
    """Nodes in it and in no function that it calls."""
    modules: list[int] = field(default_factory=list)
    is_kept: bool = True


class _Calls:
    """The calls of functions in a graph, told by the stacks of its nodes in their order."""

    def __init__(
        self, graph: Graph, stacks: _Stacks, modules: _Modules, shown: Sequence[int]
    ) -> None:
        self._stacks = stacks
        self._modules = modules
        self._made: list[_Running] = []
        self.of_node = [OUTERMOST] * len(graph.name)
        """Per node its group; before `keep_readable`, its call."""
        self._open: dict[int, list[int]] = defaultdict(list)
        self._placed: set[int] = set()
        self._last = (OUTERMOST, OUTERMOST)
        """The module and the stack of the node before, which this one often shares."""
        self._running_now = OUTERMOST
        self._depth = _count_depths(graph, stacks, modules, shown)
        self._inner = {modules.parent(number) for number in self._depth if number != OUTERMOST}
        is_shown = set(shown)
        for node, stack in enumerate(graph.stack):
            if stack >= 0 and graph.op[node] in _CALLS:
                self._enter(node, modules.of_scope(graph.scope[node]), stack, node in is_shown)

    def _enter(self, node: int, module: int, stack: int, is_shown: bool) -> None:
        depth = self._depth.get(module)
        if depth is None:  # a module without an op that is shown
            return
        before, self._last = self._last, (module, stack)
        if before != self._last:
            self._running_now = self._running(module, self._stacks.calls(stack, depth))
            self._enter_above(module, stack)
        self.of_node[node] = self._running_now
        if is_shown and self._running_now >= 0:
            self._made[self._running_now].ops += 1

    def _enter_above(self, module: int, stack: int) -> None:
        """Places a module in the calls that it is run from, in each of those that it is in."""
        while module != OUTERMOST:
            above = self._modules.parent(module)
            length = max(self._depth[module] - self._depth[above] - 1, 0)
            calls = self._stacks.calls(stack, self._depth[above])[:length]
            call = self._running(above, calls)
            if module not in self._placed:
                self._placed.add(module)
                if call >= 0:
                    self._made[call].modules.append(module)
            module = above

    def _running(self, module: int, calls: Sequence[_Call]) -> int:
        """The innermost of some calls in a module's code; those that it left are over."""
        open_ = self._open[module]
        if not calls:  # most often
            open_.clear()
            return OUTERMOST
        same = 0
        while same < min(len(open_), len(calls)) and self._made[open_[same]].call == calls[same]:
            same += 1
        del open_[same:]
        for call in calls[same:]:
            parent = open_[-1] if open_ else OUTERMOST
            open_.append(len(self._made))
            self._made.append(_Running(call, module, parent))
        return open_[-1] if open_ else OUTERMOST

    def keep_readable(self) -> None:
        """Drops calls that do not help a reader; their content takes their place."""
        runnings = self._made
        own = [each.ops for each in runnings]
        total = [each.ops + len(each.modules) for each in runnings]
        layered = [any(module in self._inner for module in each.modules) for each in runnings]
        for number in reversed(range(len(runnings))):
            parent = runnings[number].parent
            if parent >= 0:
                own[parent] += own[number]
                total[parent] += total[number]
                layered[parent] |= layered[number]
        for number, running in enumerate(runnings):
            running.is_kept = own[number] > 0 and total[number] > 1 and not layered[number]
        self._lift()
        children: dict[int, list[int]] = defaultdict(list)
        for number, kept_running in enumerate(runnings):
            if kept_running.is_kept:
                children[kept_running.parent].append(number)
        for number, item in enumerate(runnings):
            # The outer name stays: it is the one that the module's author wrote.
            while item.is_kept and item.ops + len(item.modules) == 0:
                only, *others = children[number]
                if others:
                    break
                runnings[only].is_kept = False
                item.ops, item.modules = runnings[only].ops, runnings[only].modules
                runnings[only].ops, runnings[only].modules = 0, []
                children[number] = children[only]
        self._lift()

    def _lift(self) -> None:
        """Hands what is in calls that are not kept to those above."""
        runnings = self._made
        for number in reversed(range(len(runnings))):
            running = runnings[number]
            if not running.is_kept and running.parent >= 0:
                runnings[running.parent].ops += running.ops
                runnings[running.parent].modules += running.modules
                running.ops, running.modules = 0, []
        place = [OUTERMOST] * len(runnings)
        for number, running in enumerate(runnings):
            above = place[running.parent] if running.parent >= 0 else OUTERMOST
            place[number] = number if running.is_kept else above
            running.parent = above
        self.of_node = [place[number] if number >= 0 else number for number in self.of_node]

    def groups(self, plumbing: Iterable[int]) -> list[Group]:
        """The groups of the calls that are kept, renumbered."""
        runnings = self._made
        numbers = {
            number: at
            for at, number in enumerate(n for n, running in enumerate(runnings) if running.is_kept)
        }
        numbers[OUTERMOST] = OUTERMOST
        self.of_node = [numbers[number] for number in self.of_node]
        is_plumbing = self._all_plumbing(len(numbers) - 1, frozenset(plumbing), numbers)
        return [
            Group(
                self._stacks.name(running.call),
                numbers[running.parent],
                running.module,
                is_plumbing[numbers[number]],
                sorted(running.modules),
            )
            for number, running in enumerate(runnings)
            if running.is_kept
        ]

    def _all_plumbing(
        self, count: int, plumbing: frozenset[int], numbers: dict[int, int]
    ) -> list[bool]:
        """Per group, whether all its ops are plumbing; one that runs modules is not."""
        result = [True] * count
        for node, group in enumerate(self.of_node):
            if group >= 0 and node not in plumbing:
                result[group] = False
        for number, running in reversed(list(enumerate(self._made))):
            if not running.is_kept:
                continue
            at, above = numbers[number], numbers[running.parent]
            result[at] = result[at] and not running.modules
            if above >= 0 and not result[at]:
                result[above] = False
        return result


def _count_depths(
    graph: Graph, stacks: _Stacks, modules: _Modules, shown: Iterable[int]
) -> dict[int, int]:
    """Per module, how many functions the stacks of all ops in it have together."""
    first: dict[int, int] = {}
    depths: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    for node in shown:
        stack = graph.stack[node]
        module = modules.of_scope(graph.scope[node])
        if stack < 0 or (module, stack) in seen:
            continue
        seen.add((module, stack))
        for number in (*modules.path(module), OUTERMOST):
            if number not in first:
                first[number] = stack
                depths[number] = stacks.depth(stack)
            else:
                depths[number] = min(depths[number], stacks.together(first[number], stack))
    return depths
