"""Two runs side by side: the error of every op, and the op at which it enters.

Both programs are run at once, op by op, and a third run of the first one is given, after each op
that has a partner, the partner's value. So what an op adds by itself, on the right inputs, is told
from what it was handed: `own` is the first, `error` the second. Weights are each program's own.

A node that runs nested graphs is gone into: each call of one is repeated on what it was given in
the run that is right, and compared as the main graph is. Of a loop's body that is done per turn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from torch.export.graph_signature import OutputKind
from torch.fx import Node

from export_engine.progress import Progress
from export_engine.record import OPS
from export_engine.values.error import OTHER_KERNEL, Noise, error_of, grow_noise, is_beyond
from export_engine.values.judging import Judge
from export_engine.values.matching import GraphPair, graph_pairs
from export_engine.values.pair_error import PairError, RunOf, worst_turns
from export_engine.values.reference import Reference, output_of, writes
from export_engine.values.running import running
from export_engine.values.steps import InnerCall, Steps, is_plain, left_out_of

_PLACEHOLDER = OPS.index("placeholder")


class Found(NamedTuple):
    """The result of a comparison."""

    rows: list[PairError]
    """In the order of execution; of a loop's body, each op's worst turn."""
    left_out: list[str]
    """Nodes whose inner ops were not compared, and why; a sentence each."""


def compare_runs(
    one: RunOf,
    other: RunOf,
    noise: Noise = OTHER_KERNEL,
    progress: Callable[[Progress], None] | None = None,
) -> Found:
    """The error of each op of a run against another, in the order of execution.

    Args:
        one: the run in question.
        other: the run that is right.
        noise: what an op may be off by; less where both run the same op the same way.
        progress: called every fifty ops.

    Raises:
        StepFailed: one of the programs raises an error.
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    with ExitStack() as stack:
        runs = [
            stack.enter_context(
                running(run.exported, run.record, run.request, run.device, None, run.kind)
            )
            for run in (one, one, other)
        ]
        comparison = _Comparison(one, other, noise, progress)
        plain, forced, right = runs
        sides = _Sides(
            *(plain.steps, forced.steps, right.steps),
            *(plain.inputs, forced.inputs, right.inputs),
        )
        pair_errors, _ = comparison.of_graph(0, sides)
        return Found(worst_turns(pair_errors), list(comparison.left_out))


class _Sides(NamedTuple):
    """The three runs of a graph, and what each is given."""

    plain: Steps
    forced: Steps
    right: Steps
    plain_inputs: Sequence[Any]
    forced_inputs: Sequence[Any]
    right_inputs: Sequence[Any]


class _Comparison:
    """Compares pairs of graphs, and what their nodes run."""

    def __init__(
        self,
        one: RunOf,
        other: RunOf,
        noise: Noise,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._one, self._other = one, other
        self._noise = noise
        self._progress = progress
        self._pairs = _select_pairs(graph_pairs(one.record, other.record), other)
        self._writes = writes(one.record) or writes(other.record)
        self.left_out: dict[str, None] = {}

    def of_graph(
        self, graph: int, sides: _Sides, held: Collection[int] = ()
    ) -> tuple[list[PairError], bool]:
        """The errors of the ops of a graph, and whether it returns what is right."""
        pair = self._pairs[graph]
        for steps in sides[:3]:
            steps.calls, steps.copies = {}, self._writes
        judge = Judge(self._one, self._other, (graph, pair), self._noise, held)
        right = sides.right.steps(list(sides.right_inputs))
        reference = Reference(right, sides.right, pair.nodes, writes(self._other.record))
        pair_errors: list[PairError] = []
        count = len(self._one.record.graphs[graph].name)
        walks = zip(
            sides.plain.steps(list(sides.plain_inputs)),
            sides.forced.steps(list(sides.forced_inputs)),
            strict=True,
        )
        returned: list[list[tuple[str, Any]]] = []
        for (number, node, value), (_, _, forced) in walks:
            if self._progress and not graph and number % 50 == 0:
                self._progress(Progress(number, count, node.name, "compare"))
            if node.op == "output":
                returned = [output_of(node, steps) for steps in (sides.plain, sides.forced)]
            partner = pair.nodes.get(number, -1)
            known = reference.value(partner)
            pair_errors += self._inside(node, partner, sides, judge, pair)
            if known is None:
                judge.keep(node, forced)
                continue
            told = judge.of(number, node, value, forced, known, sides.forced)
            if told is not None:
                pair_errors.append(told)
            if not isinstance(value, (tuple, list)):  # else what picks a result asks for them
                judge.let_go(sides.forced, node)
        wrong = list(self._compare_outputs(graph, judge, [*returned, reference.output()]))
        return [*pair_errors, *wrong], not wrong

    def _compare_outputs(
        self, graph: int, judge: Judge, values: Sequence[list[tuple[str, Any]]]
    ) -> Iterator[PairError]:
        """The errors of what a graph returns, where an op without a partner gives it."""
        pair = self._pairs[graph]
        plain, forced, right = values
        if not graph:
            plain, forced = (_for_user(self._one, pairs) for pairs in (plain, forced))
            right = _for_user(self._other, right)
        for (name, value), (_, own), (other, wanted) in zip(plain, forced, right, strict=False):
            node, partner = judge.find_node(name), pair.nodes.get(judge.find_node(name), -1)
            if node < 0 or (partner >= 0 and _name(self._other, pair.other, partner) == other):
                continue
            told = judge.of_output(node, value, own, wanted)
            if told is not None:
                yield told

    def _inside(
        self, node: Node, partner: int, sides: _Sides, judge: Judge, pair: GraphPair
    ) -> list[PairError]:
        """The errors inside of a node, of each call of a nested graph that it makes."""
        if node.op != "call_function":
            return []
        mine = [(steps.calls or {}).pop(node.name, []) for steps in (sides.plain, sides.forced)]
        if not mine[1]:
            self._leave_out(left_out_of(node, sides.forced.module, "compared"))
            return []
        if partner < 0:
            why = f"has no partner in {self._other.title}, so the ops inside are not compared"
            self._leave_out(f"`{node.name}` ({getattr(node.target, '__name__', '')}) {why}.")
            return []
        name = _name(self._other, pair.other, partner)
        theirs = (sides.right.calls or {}).pop(name, [])
        turns = sides.forced.turns.get(node.name, 0)
        rows: list[PairError] = []
        agreed = len(mine[1]) == len(theirs) and turns == sides.right.turns.get(name, 0)
        weights = _storages(sides.forced, node, judge)
        for at, (own, right) in enumerate(zip(mine[1], theirs, strict=False)):
            if getattr(self._pairs.get(own.graph), "other", -1) != right.graph:
                why = f"runs a different graph than in {self._other.title}"
                self._leave_out(f"`{node.name}` {why}, or it has no matching op there.")
                agreed = False
                continue
            plain = mine[0][at] if len(mine[0]) > at and mine[0][at].graph == own.graph else own
            pair_errors, same = self._of_call(_Calls(plain, own, right), sides, weights)
            rows += pair_errors
            agreed = agreed and same and self._alike(own.args, right.args, at + 1)
        if agreed or any(row.beyond for row in rows):
            judge.inside[node.name] = 0 if turns <= len(mine[1]) else turns
        if turns > len(mine[1]):
            first = f"{len(mine[1]):,} of {turns:,} calls"
            self._leave_out(f"`{node.name}`: the first {first} of its nested graphs were compared.")
        return rows

    def _of_call(
        self, calls: _Calls, sides: _Sides, weights: set[int]
    ) -> tuple[list[PairError], bool]:
        own, right = calls.own, calls.right
        inner = (
            sides.plain.inner(calls.plain.module, calls.plain.graph),
            sides.forced.inner(own.module, own.graph),
            sides.right.inner(right.module, right.graph),
        )
        for steps, call in zip(inner, calls, strict=True):
            steps.random = call.random
        graph = self._one.record.graphs[own.graph]
        placeholders = [node for node, op in enumerate(graph.op) if op == _PLACEHOLDER][
            : len(own.args)
        ]
        is_weight = [_storage(argument) in weights for argument in own.args]
        held = {node for node, is_held in zip(placeholders, is_weight, strict=True) if is_held}
        items = [
            mine if is_held else _like(theirs, mine)
            for mine, theirs, is_held in zip(own.args, right.args, is_weight, strict=True)
        ]
        inputs = [calls.plain.args, items, right.args]
        if self._writes:  # each run has tensors of its own to write to
            inputs = [[_copy(argument) for argument in args] for args in inputs]
        return self.of_graph(own.graph, _Sides(*inner, *inputs), held)

    def _alike(self, mine: Sequence[Any], theirs: Sequence[Any], turn: int = 1) -> bool:
        """Whether tensors differ by no more than noise, as it is after so many turns."""
        noise = grow_noise(self._noise, turn)
        if len(mine) != len(theirs):
            return False
        for one, other in zip(mine, theirs, strict=True):
            if not is_plain(one) or not is_plain(other):
                continue
            if one.shape != other.shape or is_beyond(error_of(one, other), noise, one, other):
                return False
        return True

    def _leave_out(self, sentence: str) -> None:
        if sentence:
            self.left_out[sentence] = None


def _select_pairs(pairs: dict[int, GraphPair], other: RunOf) -> dict[int, GraphPair]:
    """The pairs of which the other run tells the values: all, unless they come from a backend."""
    texts = other.kind.known
    if texts is None:
        return pairs
    main = {mine: node for mine, node in pairs[0].nodes.items() if _name(other, 0, node) in texts}
    return {0: GraphPair(0, main)}


class _Calls(NamedTuple):
    """A call of a nested graph in each run."""

    plain: InnerCall
    own: InnerCall
    right: InnerCall


def _name(run: RunOf, graph: int, node: int) -> str:
    return run.record.strings[run.record.graphs[graph].name[node]]


def _for_user(run: RunOf, returned: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The main graph's outputs for the user, without those that write state."""
    specs = run.exported.program.graph_signature.output_specs
    if len(specs) != len(returned):
        return returned
    kinds = [spec.kind is OutputKind.USER_OUTPUT for spec in specs]
    return [pair for pair, is_kept in zip(returned, kinds, strict=True) if is_kept]


def _storages(steps: Steps, node: Node, judge: Judge) -> set[int]:
    """Where the weights lie that a node is given."""
    nodes = [
        input_node
        for input_node in node.all_input_nodes
        if judge.number(input_node) in judge.constants
    ]
    numbers = {_storage(steps.env.get(node)) for node in nodes}
    return numbers - {0}


def _storage(value: Any) -> int:
    """Where a tensor's elements lie; of one that is made of others, which it is. 0 for none."""
    if is_plain(value) and value.layout is torch.strided:
        return value.untyped_storage().data_ptr()
    return id(value) if isinstance(value, torch.Tensor) else 0


def _like(value: Any, own: Any) -> Any:
    """A right value, in the dtype and on the device of the one that it takes the place of."""
    if not is_plain(value) or not is_plain(own):
        return value
    if value.is_floating_point() != own.is_floating_point():
        return own
    return value.to(own.device, own.dtype)


def _copy(value: Any) -> Any:
    return value.clone() if is_plain(value) else value
