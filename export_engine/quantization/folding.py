"""Which nodes only quantize, dequantize or scale for one op.

What is folded into an op is read by nothing else, so that a drawing of both as one has no cycle.
"""

from __future__ import annotations

from collections.abc import Iterable

from export_engine.quantization.ops import (
    COMPUTE,
    LOWERED,
    VIEWS,
    Ops,
    chooses,
    dequantizes,
    is_narrow,
    quantizes,
)


class Fold:
    """One op, and what is folded into it."""

    def __init__(self, ops: Ops, node: int, taken: set[int]) -> None:
        """Make one.

        Args:
            ops: the graph.
            node: the op.
            taken: nodes that are folded into others.
        """
        self._ops = ops
        self.node = node
        self.nodes = {node}
        self._taken = taken
        self.result = node
        """Where the op's floating-point value is."""
        self.inputs: list[int] = []
        """The op that quantizes an input."""
        self.weights: list[int] = []
        """Constants of few bits that the op reads, or what they are made into."""
        self.outputs: list[int] = []
        """The op that quantizes the result."""
        for number in dict.fromkeys(ops.inputs(node)):
            self._look_behind(number)
        if self.is_quantized and ops.label(node) in LOWERED:
            self._look_ahead()
        if self.is_quantized:
            self._close()

    @property
    def is_quantized(self) -> bool:
        """Whether the op reads or gives something of few bits."""
        return bool(self.inputs or self.weights or self.outputs)

    def fold_output(self, quantizing: int) -> None:
        """Folds what quantizes the op's result, and then dequantizes it for the output."""
        ops = self._ops
        self.nodes.add(quantizing)
        users = ops.users(quantizing)
        alone = ops.users(self.result) == [quantizing] and len(users) == 1
        if alone and dequantizes(ops.label(users[0])) and not self._is_read_by_ops(users[0]):
            self.nodes.add(users[0])
            self.result = users[0]
        self.outputs.append(quantizing)
        self._close()

    def _is_read_by_ops(self, node: int) -> bool:
        return any(map(self._ops.is_call, self._ops.users(node)))

    def _look_behind(self, node: int) -> None:
        """Goes up from an argument of the op to what quantizes it."""
        ops = self._ops
        if node in ops.constant:
            if any(is_narrow(ops.type(leaf)) for leaf in ops.leaves(node)):
                self.weights.append(node)
            return
        while ops.is_moved(node) and ops.inputs(node):
            node = ops.inputs(node)[0]
        label = ops.label(node)
        if dequantizes(label) or quantizes(label):
            self.inputs.append(node)

    def _look_ahead(self) -> None:
        """Goes down from a product to where it is scaled, and has its bias."""
        ops, waiting = self._ops, list[int]()
        while True:
            at = waiting[-1] if waiting else self.result
            users = ops.users(at)
            if len(users) != 1:
                break
            user, others = users[0], [source for source in ops.inputs(users[0]) if source != at]
            if ops.label(user) in VIEWS and not others:
                waiting.append(user)
            elif len(others) == 1 and self._finishes(user, others[0]):
                self.nodes.update((*waiting, user))
                self.result, waiting = user, []
            else:
                break
        own = [number for number in waiting if ops.scope(number) == ops.scope(self.node)]
        if own and own == waiting and self._is_own_scope():
            self.nodes.update(own)
            self.result = own[-1]

    def _finishes(self, user: int, other: int) -> bool:
        """Whether what reads a product, in the same module, scales it, adds its bias or shifts it.

        A shifted input adds the sums of the weight's columns, which are subtracted here.
        """
        if self._ops.scope(user) != self._ops.scope(self.node):
            return False  # a module around it may scale what the layer gives, as ConvNeXt's do
        label = self._ops.label(user).rstrip("_")
        if label == "sub":
            return (
                other in self._ops.constant and self._ops.is_whole(user) and self._is_scale(other)
            )
        return (label == "mul" and self._is_scale(other)) or (
            label == "add" and self._is_bias(other, user)
        )

    def _is_own_scope(self) -> bool:
        """Whether the op's module has one such op alone: a Linear, not a model."""
        scope = self._ops.scope(self.node)
        return scope >= 0 and self._ops.computing[scope] == 1

    def _is_scale(self, node: int) -> bool:
        ops = self._ops
        if node in ops.constant:
            weights = {ops.holder(leaf) for weight in self.weights for leaf in ops.leaves(weight)}
            leaves = ops.leaves(node)
            return all(ops.holder(leaf) in weights or not ops.is_inner(leaf) for leaf in leaves)
        while ops.inputs(node) and (ops.label(node) in VIEWS or ops.label(node) == "getitem"):
            node = ops.inputs(node)[0]
        return chooses(ops.label(node))

    def _is_bias(self, node: int, user: int) -> bool:
        kind = self._ops.type(node)
        same = self._ops.scope(user) == self._ops.scope(self.node)
        return node in self._ops.constant and kind is not None and len(kind.shape) <= 1 and same

    def _close(self) -> None:
        """Adds what only this reads: casts of weights, scales, what quantizes and chooses."""
        waiting = [source for node in self.nodes for source in self._ops.inputs(node)]
        while waiting:
            node = waiting.pop()
            if node not in self.nodes and node not in self._taken and self._belongs(node):
                self.nodes.add(node)
                waiting += self._ops.inputs(node)
                waiting += [source for at in self.inputs for source in self._ops.inputs(at)]

    def _belongs(self, node: int) -> bool:
        ops = self._ops
        if not ops.is_call(node) or not all(user in self.nodes for user in ops.users(node)):
            return False
        label = ops.label(node)
        if node in ops.constant or dequantizes(label) or quantizes(label) or chooses(label):
            return True
        if label == "getitem":
            return chooses(ops.label(ops.inputs(node)[0]))
        return ops.is_moved(node) and self._is_between(node)

    def _is_between(self, node: int) -> bool:
        """Whether a view is between the quantizing op and the op, or in the op's own module."""
        ops = self._ops
        at = node
        while ops.is_moved(at) and ops.inputs(at):
            at = ops.inputs(at)[0]
        label = ops.label(at)
        if dequantizes(label) or quantizes(label) or chooses(label):
            return True
        if label == "getitem" and chooses(ops.label(ops.inputs(at)[0])):
            return True
        lowered = ops.label(self.node) in LOWERED and ops.scope(node) == ops.scope(self.node)
        return lowered and self._is_own_scope()


def folds_of(ops: Ops) -> list[Fold]:
    """The quantized ops of a graph, each with what is folded into it, in order."""
    taken: set[int] = set()
    entries: dict[int, Fold] = {}

    def look(nodes: Iterable[int]) -> None:
        for node in nodes:
            if node in taken or _is_plumbing(ops, node):
                continue
            fold = Fold(ops, node, taken)
            if fold.is_quantized:
                entries[node] = fold
                taken.update(fold.nodes)

    calls = list(ops.calls())
    look(node for node in calls if ops.label(node) in COMPUTE)
    look(node for node in calls if _reads_dequantized(ops, node))
    by_result = {fold.result: fold for fold in entries.values()}
    for node in calls:
        if quantizes(ops.label(node)) and node not in taken and ops.inputs(node):
            source = ops.inputs(node)[0]
            given_by = by_result.get(source)
            if given_by is None and ops.is_call(source) and source not in taken:
                if _is_plumbing(ops, source):
                    continue
                given_by = entries[source] = by_result[source] = Fold(ops, source, taken)
            if given_by is not None:
                given_by.fold_output(node)
                taken.update(given_by.nodes)
    return [entries[node] for node in sorted(entries)]


def _is_plumbing(ops: Ops, node: int) -> bool:
    label = ops.label(node)
    is_own = dequantizes(label) or quantizes(label) or chooses(label)
    return is_own or label == "getitem" or node in ops.constant


def _reads_dequantized(ops: Ops, node: int) -> bool:
    """Whether an op without a weight is given what was just dequantized."""
    return any(
        dequantizes(ops.label(source)) and source not in ops.constant for source in ops.inputs(node)
    )
