"""Two runs side by side: the error of every op, and the op at which it enters.

Both programs are run at once, op by op, and a third run of the first one is given, after each op
that has a partner, the partner's value. So what an op adds by itself, on the right inputs, is told
from what it was handed: `own` is the first, `error` the second. Weights are each program's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from torch.fx import Node

from export_engine.attempt import Exported, Request
from export_engine.progress import Progress
from export_engine.record import Record
from export_engine.values.error import (
    EQUAL,
    OTHER_KERNEL,
    SAME_KERNEL,
    Error,
    Noise,
    error_of,
    is_beyond,
)
from export_engine.values.pairing import constants_of, is_same_op, pairs_of
from export_engine.values.running import running
from export_engine.values.steps import Steps, is_plain


class RunOf(NamedTuple):
    """One of two runs."""

    title: str
    exported: Exported
    record: Record
    request: Request
    device: str = "cpu"
    kind: type[Steps] = Steps


class PairError(NamedTuple):
    """The error of one op."""

    node: int
    """In the first program's main graph."""
    partner: int
    """In the other's."""
    error: Error
    """Of the run."""
    own: Error
    """Of the op alone, on the other run's inputs."""
    beyond: bool
    """Whether `own` is more than noise, so that an error enters here."""
    blamed: int
    """Then the op that it enters at: this one, or one before it that has no partner."""
    overflow: int
    """Elements that this op made infinite or NaN, and the other did not."""
    underflow: int
    """Elements that this op made 0, and the other did not."""


def compare_runs(
    one: RunOf,
    other: RunOf,
    noise: Noise = OTHER_KERNEL,
    progress: Callable[[Progress], None] | None = None,
) -> list[PairError]:
    """The error of each op of a run against another, in the order of execution.

    Args:
        one: the run in question.
        other: the run that is right.
        noise: what an op may be off by; less where both run the same op the same way.
        progress: called every fifty ops.

    Raises:
        StepFailed: one of the programs raises an error.
        KeyboardInterrupt: the user interrupted; everything is as it was.
    """
    pairs = pairs_of(one.record, other.record)
    with ExitStack() as stack:
        runs = [
            stack.enter_context(
                running(each.exported, each.record, each.request, each.device, None, each.kind)
            )
            for each in (one, one, other)
        ]
        alike = one.kind is other.kind and one.device == other.device
        judge = _Judge(one, other, pairs, noise, alike)
        reference = _Reference(runs[2].walk(), runs[2].steps, pairs, _writes(other.record))
        found: list[PairError] = []
        count = len(one.record.graphs[0].name)
        walks = zip(runs[0].walk(), runs[1].walk(), strict=True)
        for (number, node, value), (_, _, forced) in walks:
            if progress and number % 50 == 0:
                progress(Progress(number, count, node.name, "compare"))
            known = reference.value(pairs.get(number, -1))
            if known is None:
                judge.keep(node, forced)
                continue
            told = judge.of(number, node, value, forced, known, runs[1].steps)
            if told is not None:
                found.append(told)
            if not isinstance(value, (tuple, list)):  # else what picks a result asks for them
                judge.let_go(runs[1].steps, node)
        return found


class _Known(NamedTuple):
    value: Any
    inputs: list[Any]


class _Reference:
    """The run that is right: values of its nodes, kept until their partners ask for them."""

    def __init__(
        self,
        walk: Iterator[tuple[int, Node, Any]],
        steps: Steps,
        pairs: dict[int, int],
        writes: bool,
    ) -> None:
        self._walk = walk
        self._steps = steps
        self._kept = _copy if writes else _same
        self._waited = set(pairs.values())
        self._pending: dict[int, _Known] = {}
        self._several: dict[str, list[Any]] = {}
        """The inputs of the last op that has several results."""

    def value(self, node: int) -> _Known | None:
        if node < 0:
            return None
        while node not in self._pending:
            step = next(self._walk, None)
            if step is None:
                return None
            number, at, value = step
            several = isinstance(value, (tuple, list))
            if at.op == "call_function" and (several or number in self._waited):
                inputs = [self._kept(self._steps.env.get(each)) for each in at.all_input_nodes]
                if several:  # what picks one of its results is given the same
                    self._several = {at.name: inputs}
                inputs = self._several.get(_source(at).name, inputs)
            if at.op == "call_function" and number in self._waited:
                self._pending[number] = _Known(self._kept(value), inputs)
            if at.op != "call_function" and number == node:
                return None
        return self._pending.pop(node)


class _Judge:
    """Says of each op whether it is off by itself."""

    def __init__(
        self, one: RunOf, other: RunOf, pairs: dict[int, int], noise: Noise, alike: bool
    ) -> None:
        self._one, self._other = one, other
        self._pairs = pairs
        self._noise = noise
        self._alike = alike
        self._writes = _writes(one.record)
        self._constants = constants_of(one.record)
        self._wrong_constants: set[int] = set()
        level = one.record.level
        origins = level.origins if level else ()
        self._made = {node for node, origin in enumerate(origins) if origin >= 0}
        """Nodes that are known to be parts of another op."""
        self._given: dict[str, torch.Tensor] = {}
        """Values of ops that have no partner, while they may be asked for."""
        self._unfit: set[str] = set()
        """Ops whose right value this run's dtype cannot hold: what reads them is not judged."""
        self._numbers: dict[str, int] = {
            one.record.strings[name]: node for node, name in enumerate(one.record.graphs[0].name)
        }

    def of(
        self, number: int, node: Node, value: Any, forced: Any, known: _Known, steps: Steps
    ) -> PairError | None:
        partner = self._pairs[number]
        right = known.value
        if not all(is_plain(each) for each in (value, forced, right)):
            return None
        if not value.shape == forced.shape == right.shape:
            return None
        own = error_of(forced, right)
        if not self._unfit.isdisjoint(each.name for each in _source(node).all_input_nodes):
            own = EQUAL
        beyond = own is not EQUAL and is_beyond(
            own, self._noise_of(number, node, partner), forced, right
        )
        blamed = self._producer(number, node)
        wrong = self._wrong_input(node, known)
        if wrong is not None:
            blamed, given = wrong
            own = max(own, given, key=lambda each: each.relative)
        elif number in self._constants:
            if beyond and any(self._is_wrong(each) for each in node.all_input_nodes):
                beyond = False  # its weight is: the op that uses it is told
            if own.relative > 0:
                self._wrong_constants.add(number)
        if number not in self._constants:
            self._force(steps, node, forced, right)
        lost = (forced == 0).cpu() & (right != 0).cpu()
        return PairError(
            node=number,
            partner=partner,
            error=error_of(value, right),
            own=own,
            beyond=beyond or wrong is not None,
            blamed=blamed,
            overflow=own.odd,
            underflow=int(lost.sum()) if forced.is_floating_point() else 0,
        )

    def keep(self, node: Node, forced: Any) -> None:
        """Keeps what an op without a partner gave, until the last op that reads it."""
        if self._is_alone(node) and isinstance(forced, torch.Tensor):
            self._given[node.name] = _copy(forced) if self._writes else forced

    def _noise_of(self, number: int, node: Node, partner: int) -> Noise:
        if not self._alike or not is_same_op(self._one.record, number, self._other.record, partner):
            return self._noise
        direct = all(self._number(each) in self._pairs for each in node.all_input_nodes)
        return SAME_KERNEL if direct and self._noise is OTHER_KERNEL else self._noise

    def _is_wrong(self, node: Node) -> bool:
        """Whether a constant input is not the other program's: a damaged weight."""
        number = self._number(node)
        return number in self._wrong_constants or node.op == "placeholder"

    def _number(self, node: Node) -> int:
        return self._numbers.get(node.name, -1)

    def _producer(self, number: int, node: Node) -> int:
        """The op of which a node is a result: its own, or where it only picks one, that one."""
        return self._number(_source(node)) if _source(node) is not node else number

    def _wrong_input(self, node: Node, known: _Known) -> tuple[int, Error] | None:
        """An op without a partner between this one and the value that it should be given."""
        mine = _source(node).all_input_nodes
        if len(mine) != len(known.inputs):
            return None
        for each, right in zip(mine, known.inputs, strict=True):
            given = self._given.get(each.name)
            if given is None or not isinstance(right, torch.Tensor) or given.shape != right.shape:
                continue
            error = error_of(given, right)
            if is_beyond(error, self._noise, given, right):
                return self._first_alone(each, self._number(each)), error
        return None

    def _is_alone(self, node: Node) -> bool:
        number = self._number(node)
        return (
            node.op == "call_function"
            and number not in self._pairs
            and number not in self._constants
            and number not in self._made
        )

    def _first_alone(self, node: Node, fallback: int) -> int:
        """The first op without a partner among those that a node is made of."""
        found, waiting, seen = fallback, [node], {node}
        while waiting:
            each = waiting.pop()
            if self._is_alone(each):
                found = min(found, self._number(each))
            for source in each.all_input_nodes:
                if source not in seen and self._is_alone(source):
                    seen.add(source)
                    waiting.append(source)
        return found

    def let_go(self, steps: Steps, node: Node) -> None:
        """Forgets values that nothing reads after a node."""
        for dead in steps.user_to_last_uses.get(node, ()):
            self._given.pop(dead.name, None)

    def _force(self, steps: Steps, node: Node, forced: torch.Tensor, right: torch.Tensor) -> None:
        """Gives the op the right value, for what follows it."""
        if forced.is_floating_point() != right.is_floating_point():
            return
        cast = right.to(forced.device, forced.dtype)
        if cast.is_floating_point() and bool((cast.isinf().cpu() & right.isfinite().cpu()).any()):
            self._unfit.add(node.name)
        if not (self._writes and _overwritten(forced, cast)):
            steps.env[node] = cast


def _writes(record: Record) -> bool:
    """Whether an op writes to what it is given: then values are kept as they are now."""
    return any(target.mutates for target in record.targets)


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _same(value: Any) -> Any:
    return value


def _overwritten(value: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether a value was made right where it is: what it is a view of is right then, too."""
    if value.layout is not torch.strided or value.dtype != right.dtype:
        return False
    try:
        value.copy_(right)
    except RuntimeError:  # elements share memory: it was expanded, or unfolded
        return False
    return True


def _source(node: Node) -> Node:
    """The op that a node picks a result of; itself where it picks none."""
    if getattr(node.target, "__name__", "") == "getitem" and node.all_input_nodes:
        return node.all_input_nodes[0]
    return node
