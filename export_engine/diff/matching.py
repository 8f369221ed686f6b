"""Matches the nodes of two graphs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from export_engine.diff.in_order import in_order
from export_engine.diff.provenance import Group
from export_engine.diff.side import Side
from export_engine.record import Graph, Why

_ROUNDS = 200
_NEAR = 3
"""The score of `_points` from which two nodes count as the same."""


class Nodes:
    """One graph's nodes with everything they are matched by."""

    def __init__(self, side: Side, graph: Graph) -> None:
        count = len(graph.name)
        self.side = side
        self.graph = graph
        self.labels = [side.label(graph, node) for node in range(count)]
        self.scopes = [side.scope(graph, node) for node in range(count)]
        self.inputs = [side.inputs(graph, node) for node in range(count)]
        self.users: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for node, inputs in enumerate(self.inputs):
            for position, source in enumerate(inputs):
                self.users[source].append((position, node))
        self.entries = _entries(side, graph)

    def __len__(self) -> int:
        return len(self.labels)

    def schema(self, node: int) -> str:
        """The schema of a node's op; empty where it has none."""
        target = self.graph.target[node]
        return self.side.record.targets[target].schema if target >= 0 else ""


class Matching:
    """Pairs of nodes under construction: a node is in one pair at most."""

    def __init__(
        self,
        before: Nodes,
        after: Nodes,
        known: Iterable[Group] = (),
        proven: Mapping[int, int] | None = None,
    ) -> None:
        """Match them.

        Args:
            before: the nodes of the first graph.
            after: those of the second.
            known: which nodes torch made from which.
            proven: the only pairs, where the graphs are proven to be the same.
        """
        self.before = before
        self.after = after
        self.partner: dict[int, int] = {}
        """Per node of the first graph, its node of the second."""
        self.origin: dict[int, int] = {}
        """The inverse."""
        self.why: dict[int, Why] = {}
        self._replaced: set[int] = set()
        """Nodes of the first graph that are known to have no partner."""
        self._made: set[int] = set()
        """Those of the second."""
        if proven is not None:
            entries = {node for node, _ in before.entries}
            for node, twin in proven.items():
                self._pair(node, twin, "input" if node in entries else "structure")
            return
        self._by_key(before.entries, after.entries, "input")
        for group in known:
            self._by_provenance(group)
        self._by_structure()
        self._by_weights()
        self._by_neighbours()
        self._by_sequence()
        self._by_neighbours()

    def _pair(self, one: int, other: int, why: Why) -> None:
        if one not in self.partner and other not in self.origin:
            self.partner[one] = other
            self.origin[other] = one
            self.why[one] = why

    def _left(self) -> tuple[list[int], list[int]]:
        ones = [
            node
            for node in range(len(self.before))
            if node not in self.partner and node not in self._replaced
        ]
        others = [
            node
            for node in range(len(self.after))
            if node not in self.origin and node not in self._made
        ]
        return ones, others

    def _by_provenance(self, group: Group) -> None:
        """The one op that stayed the same or became functional, if any did."""
        for name_of in (lambda target: target, _name_functional):
            same = [
                (one, other)
                for one in group.before
                for other in group.after
                if name_of(self.before.labels[one].target)
                == name_of(self.after.labels[other].target)
            ]
            if len(same) == 1:
                self._pair(*same[0], "provenance")
            if same:
                return
        self._replaced.update(group.before)
        self._made.update(group.after)

    def _by_key(
        self, ones: Iterable[tuple[int, Hashable]], others: Iterable[tuple[int, Hashable]], why: Why
    ) -> None:
        """Pairs nodes with the same key; several with one key in order, if there are as many."""
        groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for node, key in ones:
            groups[key][0].append(node)
        for node, key in others:
            groups[key][1].append(node)
        for mine, theirs in groups.values():
            if len(mine) == len(theirs):
                for one, other in zip(mine, theirs, strict=True):
                    self._pair(one, other, why)

    def _by_structure(self) -> None:
        """The same op on the same values and with the same uses; then either."""
        up = _hashes_up(self.before, self._names(0)), _hashes_up(self.after, self._names(1))
        down = _hashes_down(self.before, self._names(0)), _hashes_down(self.after, self._names(1))
        for parts in ((up, down), (up,), (down,)):
            ones, others = self._left()
            self._by_key(
                [(node, tuple(part[0][node] for part in parts)) for node in ones],
                [(node, tuple(part[1][node] for part in parts)) for node in others],
                "structure",
            )

    def _names(self, side: int) -> dict[int, int]:
        """The common numbers of inputs in both graphs."""
        if side == 0:
            return {one: one for one in self.partner}
        return {other: one for one, other in self.partner.items()}

    def _by_weights(self) -> None:
        """Ops that read the same inputs of the signature, and do the same with them."""
        ones, others = self._left()
        entries = {one: one for one, why in self.why.items() if why == "input"}
        turned = {self.partner[one]: one for one in entries}
        self._by_key(
            [(node, key) for node in ones for key in _weights(self.before, node, entries)],
            [(node, key) for node in others for key in _weights(self.after, node, turned)],
            "weights",
        )

    def _by_neighbours(self) -> None:
        """Extends pairs: nodes in the same relation to matched nodes."""
        for _ in range(_ROUNDS):
            items = self._nearest()
            if not items:
                return
            for _, one, other in items:
                self._pair(one, other, "neighbours")

    def _nearest(self) -> list[tuple[int, int, int]]:
        """The pairs with the highest scores; none in a tie."""
        scored: list[tuple[int, int, int]] = []
        for one in self._left()[0]:
            uses = Counter(
                (position, self.partner.get(user, -1)) for position, user in self.before.users[one]
            )
            options = {other: self._points(one, other, uses) for other in self._options(one)}
            best = max(options.values(), default=0)
            winners = [other for other, points in options.items() if points == best]
            if best >= _NEAR and winners:
                scored.append((-best, one, winners[0] if len(winners) == 1 else min(winners)))
        scored.sort()
        top = scored[0][0] if scored else 0
        return [pair for pair in scored if pair[0] == top]

    def _options(self, one: int) -> set[int]:
        """Candidates in the second graph: neighbours of the partners of this node's neighbours."""
        numbers: set[int] = set()
        for position, source in enumerate(self.before.inputs[one]):
            partner = self.partner.get(source)
            if partner is not None:
                numbers |= {user for at, user in self.after.users[partner] if at == position}
        for position, user in self.before.users[one]:
            partner = self.partner.get(user)
            if partner is not None and position < len(self.after.inputs[partner]):
                numbers.add(self.after.inputs[partner][position])
        kind = self.before.labels[one].op
        return {
            other
            for other in numbers
            if other not in self.origin
            and other not in self._made
            and self.after.labels[other].op == kind
        }

    def _points(self, one: int, other: int, uses: Counter[tuple[int, int]]) -> int:
        """How much two nodes have in common; `uses` are the first one's, by partners."""
        mine, theirs = self.before.labels[one], self.after.labels[other]
        points = 2 * (mine.target == theirs.target)
        points += (mine.arguments == theirs.arguments) + (mine.type == theirs.type)
        points += self.before.scopes[one] == self.after.scopes[other]
        shared = sum(
            self.partner.get(source) == partner
            for source, partner in zip(
                self.before.inputs[one], self.after.inputs[other], strict=False
            )
        )
        users = self.after.users[other]
        common = sum((uses & Counter(users)).values()) if uses.keys() & set(users) else 0
        points += 2 * shared + 2 * common
        if mine.target != theirs.target and not (shared and common):
            return 0  # a different op: the same node only if in exactly the same place
        return points

    def _by_sequence(self) -> None:
        """The unmatched nodes of each module, in order."""
        ones, others = self._left()
        mine, theirs = _by_scope(ones, self.before.scopes), _by_scope(others, self.after.scopes)
        for scope, nodes in mine.items():
            partners = theirs.get(scope, [])
            keys = [self.before.labels[node][:3] for node in nodes]
            other_keys = [self.after.labels[node][:3] for node in partners]
            for one, other in in_order(keys, other_keys):
                self._pair(nodes[one], partners[other], "sequence")


def _name_functional(target: str) -> str:
    """An op's name without the marks of one that writes and of one that copies a view.

    `aten.select_copy.int` is `aten.select.int`, and `aten.add_.Tensor` is `aten.add.Tensor`.
    """
    name, dot, overload = target.rpartition(".")
    return name.removesuffix("_copy").rstrip("_") + dot + overload


def _entries(side: Side, graph: Graph) -> list[tuple[int, Hashable]]:
    """The nodes that a signature names, with what it calls them; placeholders of nested graphs."""
    signature = side.record.signature
    main = graph is side.record.graphs[0]
    pairs: list[tuple[int, Hashable]] = []
    if main:
        users = 0
        for entry in signature.inputs:
            if entry.kind == "user_input":
                pairs.append((entry.node, ("user", users)))
                users += 1
            else:
                pairs.append((entry.node, ("held", entry.target)))
    else:
        inputs = [node for node, op in enumerate(graph.op) if op == 0]
        pairs = [(node, ("input", number)) for number, node in enumerate(inputs)]
    pairs.append((len(graph.name) - 1, ("output",)))
    return [(node, key) for node, key in pairs if node >= 0]


def _hashes_up(nodes: Nodes, names: dict[int, int]) -> list[int]:
    """Per node, a hash of it and of all that its value is made from."""
    numbers: list[int] = []
    for node, label in enumerate(nodes.labels):
        if node in names and label.op == "placeholder":
            numbers.append(hash(("input", names[node])))
        else:
            numbers.append(hash((label, tuple(numbers[source] for source in nodes.inputs[node]))))
    return numbers


def _hashes_down(nodes: Nodes, names: dict[int, int]) -> list[int]:
    """Per node, a hash of it, the weights it reads, and of all that is made from its value."""
    numbers = [0] * len(nodes)
    for node in range(len(nodes) - 1, -1, -1):
        uses = sorted((position, numbers[user]) for position, user in nodes.users[node])
        held = tuple(names[source] for source in nodes.inputs[node] if source in names)
        numbers[node] = hash((nodes.labels[node], held, tuple(uses)))
    return numbers


def _weights(nodes: Nodes, node: int, names: dict[int, int]) -> Iterator[Hashable]:
    """An op and the inputs of the signature that it reads; nothing if it reads none."""
    held = tuple(names[number] for number in nodes.inputs[node] if number in names)
    if held:
        yield nodes.labels[node].target, held


def _by_scope(nodes: Sequence[int], scopes: Sequence[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for node in nodes:
        groups.setdefault(scopes[node], []).append(node)
    return groups
