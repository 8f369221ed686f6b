"""The first op at which two runs of a program diverge.

Eager has no graph, so the model is exported once more at exactly these sizes: on these inputs that
program is eager's trace. Both are run op by op, and their ops are matched in order. A backend that
tells no values of ops is asked for the value of one op after another: `bisect`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.defects import log_internal_error
from export_engine.source import Stack, parse_stack_trace
from export_engine.verify.compare_outputs import compare
from export_engine.verify.isolated_run import call
from export_engine.verify.known_causes import find_known_cause
from export_engine.verify.program_under_test import Subject


class Divergence(NamedTuple):
    """Where values diverge."""

    node: str
    """The node's name in the program; empty if it is not known."""
    sentence: str
    stack: Stack = ()
    """The user's line of that op."""


UNKNOWN = Divergence("", "The first op that diverges could not be located.")


def first_difference(subject: Subject, request: Request, seed: int) -> Divergence:
    """The first op with a different value, or that eager does not run; with its line."""
    try:
        cause = find_known_cause(subject, request, seed)
        return Divergence("", cause) if cause else _locate_divergence(subject, request, seed)
    except Exception as error:  # noqa: BLE001 - a help to the reader; what is broken stands without it
        log_internal_error(error, "finding the op whose output diverges")
        return UNKNOWN
    finally:
        subject.restore()


def _locate_divergence(subject: Subject, request: Request, seed: int) -> Divergence:
    traced = capture(request.with_changes(shapes=None, edits=(), strict=False))
    if not isinstance(traced, Exported):
        return UNKNOWN
    ours = _values(subject.program.module(), request, seed)
    subject.restore()
    theirs = _values(traced.program.module(), request, seed)
    matcher = SequenceMatcher(
        None, [key for _, key, _ in ours], [key for _, key, _ in theirs], autojunk=False
    )
    alone: list[torch.fx.Node] = []
    for tag, start, end, other, _ in matcher.get_opcodes():
        if tag != "equal":
            alone += [node for node, _, _ in ours[start:end]]
            continue
        for step in range(end - start):
            node, _, value = ours[start + step]
            if value.shape != theirs[other + step][2].shape:
                alone.append(node)  # another op of the same kind
            elif not compare(value, theirs[other + step][2], loose=16.0).same:
                before = _only_ours(node, alone)
                return _otherwise(before[0]) if before else _other_value(node)
    last = _only_ours(subject.program.graph.output_node(), alone) or alone
    return _otherwise(last[0]) if last else UNKNOWN


def bisect(
    nodes: Sequence[torch.fx.Node],
    outputs: Sequence[torch.fx.Node],
    differs: Callable[[torch.fx.Node], bool],
) -> Divergence:
    """The first op with a different value, by bisecting an output's ancestors.

    A value may be wrong, then right again, as after a normalization, so the op found may have a
    wrong input: that input's ancestors are bisected in turn.

    Args:
        nodes: of the program, in order.
        outputs: the ops whose values it returns.
        differs: whether an op's value differs; asked once per op.
    """
    entries: dict[torch.fx.Node, bool] = {}

    def is_off(node: torch.fx.Node) -> bool:
        if node not in entries:
            entries[node] = differs(node)
        return entries[node]

    wrong = [node for node in outputs if is_off(node)]
    if not wrong:
        return Divergence(
            "", "Each output agrees when computed alone, but not in the whole program."
        )
    first = wrong[0]
    while wrong:
        first = _first_off(_find_operands_of(wrong[0], nodes), is_off)
        wrong = [node for node in first.all_input_nodes if makes_tensor(node) and is_off(node)]
    return _other_value(first)


def makes_tensor(node: torch.fx.Node) -> bool:
    """Whether a node is a call that makes one tensor."""
    return node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor)


def _find_operands_of(node: torch.fx.Node, nodes: Sequence[torch.fx.Node]) -> list[torch.fx.Node]:
    """The ops that an op's value depends on, in order, and itself as the last."""
    needed, waiting = {node}, [node]
    while waiting:
        fresh = set(waiting.pop().all_input_nodes) - needed
        needed |= fresh
        waiting += fresh
    return [node for node in nodes if node in needed and makes_tensor(node)]


def _first_off(ops: list[torch.fx.Node], is_off: Callable[[torch.fx.Node], bool]) -> torch.fx.Node:
    """The first op of a list that diverges, by bisection; the last is known to."""
    good, bad = -1, len(ops) - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_off(ops[middle]):
            bad = middle
        else:
            good = middle
    return ops[bad]


def _only_ours(node: torch.fx.Node, alone: list[torch.fx.Node]) -> list[torch.fx.Node]:
    """Ops that eager does not run, between an op and the last one that both run before it."""
    names = {node.name for node in alone}
    between = {other.name for other in find_unmatched(node, lambda other: other.name in names)}
    return [node for node in alone if node.name in between]


def find_unmatched(
    node: torch.fx.Node, is_unmatched: Callable[[torch.fx.Node], bool]
) -> set[torch.fx.Node]:
    """The ops of one run alone between an op and what both runs have before it.

    Args:
        node: where values diverge. It is not among them.
        is_unmatched: whether no op of the other run matches an op.
    """
    unmatched: set[torch.fx.Node] = set()
    waiting = [node]
    while waiting:
        fresh = [
            source
            for source in waiting.pop().all_input_nodes
            if source not in unmatched and is_unmatched(source)
        ]
        unmatched.update(fresh)
        waiting += fresh
    return unmatched


def _other_value(node: torch.fx.Node) -> Divergence:
    return _at(node, f"the first op whose output diverges is `{node.name}`")


def _otherwise(node: torch.fx.Node) -> Divergence:
    return _at(node, f"the first op that differs in eager is `{node.name}`")


def _at(node: torch.fx.Node, said: str) -> Divergence:
    stack = parse_stack_trace(node.stack_trace or "")
    where = f", line {stack[-1].line}" if stack else ""
    return Divergence(node.name, f"{said[:1].upper()}{said[1:]} ({node.target}{where}).", stack)


class _Watching(torch.fx.Interpreter):
    """Runs a graph and keeps each op's result; the program's own asserts are skipped."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module, garbage_collect_values=True)
        self.seen: list[tuple[torch.fx.Node, str, Any]] = []

    def run_node(self, n: torch.fx.Node) -> Any:
        if n.op == "call_module" and n.target == "_guards_fn":
            return None
        if "_assert_" in str(n.target):
            return None
        result = super().run_node(n)
        if n.op == "call_function" and isinstance(result, torch.Tensor):
            self.seen.append((n, str(n.target), result.detach().clone()))
        return result


def _values(
    module: torch.nn.Module, request: Request, seed: int
) -> list[tuple[torch.fx.Node, str, Any]]:
    assert isinstance(module, torch.fx.GraphModule)
    watching, graph = _Watching(module), module.graph

    def run(*args: Any, **kwargs: Any) -> Any:
        flat = graph.process_inputs(*args, **kwargs)
        return watching.run(*flat, enable_io_processing=False)

    call(run, request, seed)
    return watching.seen
