"""Rewrites of a whole program: torch decomposes ops, and a backend's own passes run before it.

Other rewrites put ops in one op's place; these retrace the program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from export_engine.defects import log_internal_error
from export_engine.delegate.backend import DelegationBackend
from export_engine.record import DelegatedOp
from export_engine.run import Origins
from export_engine.torch_internals import (
    OpOverload,
    find_decomposition,
    find_python_body,
    writes_to_arguments,
)

Program = torch.export.ExportedProgram
Table = dict[Any, Callable[..., Any]]


@dataclass(frozen=True)
class Outside:
    """A program, and the ops of it that a backend left."""

    program: Program
    backend: DelegationBackend
    ops: Mapping[str, tuple[str, ...]]
    """By the node's name: the ops that it was lowered to and that stayed outside."""
    can_become: Callable[[str], bool]
    """Whether the backend has a rule for an op, or another rewrite replaces it."""

    @classmethod
    def of(
        cls,
        program: Program,
        backend: DelegationBackend,
        outside: Collection[DelegatedOp],
        replaced: frozenset[str],
    ) -> Outside:
        """The ops outside of a delegation.

        Args:
            program: that was lowered.
            backend: that left them.
            outside: these ops.
            replaced: the ops that other rewrites replace: `aten.sum.dim_IntList`.
        """
        ops: dict[str, tuple[str, ...]] = {}
        for op in outside:
            if op.origin and not op.graph:
                ops[op.origin] = (*ops.get(op.origin, ()), op.op)
        find_rules: Callable[[], frozenset[str]] = getattr(backend, "rules", frozenset)
        rules = find_rules()
        return cls(program, backend, ops, lambda op: _has_rule(op, rules) or op in replaced)


def _has_rule(op: str, rules: frozenset[str]) -> bool:
    """Whether rules that are named `add.Tensor` and `view_copy.default` are for an op."""
    packet, _, overload = op.partition(".")[2].rpartition(".")
    return not rules or not rules.isdisjoint((f"{packet}.{overload}", f"{packet}_copy.{overload}"))


Make = Callable[[Outside], Program | None]


@dataclass(frozen=True)
class ProgramRewrite:
    """One kind of rewrite of a whole program."""

    kind: str
    title: str
    """Its effect, as an imperative."""
    fits: Callable[[Outside], bool]
    """Whether it may apply; it is quick."""
    make: Make
    """The rewritten copy; None where the rewrite does not apply."""
    keeps_all: bool = True

    def try_on(self, outside: Outside) -> tuple[Program, list[str]] | None:
        """The rewritten copy, and the ops that it replaces; None where it does not apply."""
        try:
            with torch.no_grad():
                rewritten = self.make(outside) if self.fits(outside) else None
        except Exception as error:  # noqa: BLE001 - a body in Python may do what no trace follows
            log_internal_error(error, f"rewriting a program by {self.kind}")
            return None
        if rewritten is None:
            return None
        kept = {
            node.name: node.target for node in rewritten.graph.nodes if node.op == "call_function"
        }
        old = {node.name: node.target for node in outside.program.graph.nodes}
        changed = [name for name in outside.ops if kept.get(name) is not old.get(name)]
        return (rewritten, changed) if changed else None


def _run_body(outside: Outside) -> Program | None:
    """A copy in which custom ops outside are the ops that their Python code calls."""
    return _run_decompositions(outside.program, _find_bodies(outside))


def _find_bodies(outside: Outside) -> Table:
    """The Python code of each custom op outside that writes to no argument."""
    targets = {node.target for node in _iter_nodes(outside)}
    bodies = {
        target: find_python_body(target) for target in targets if not writes_to_arguments(target)
    }
    return {target: body for target, body in bodies.items() if body is not None}


def _decompose(outside: Outside) -> Program | None:
    """A copy in which torch decomposes ops outside whose parts the backend has rules for."""
    table = _make_table(outside)
    while table:
        rewritten = _run_decompositions(outside.program, table)
        useless = _find_useless(outside, rewritten)
        if not useless & {*table}:  # what is left stays outside for another reason
            return rewritten
        table = {op: function for op, function in table.items() if op not in useless}
        table = {op: function for op, function in table.items() if _is_asked(op, table, outside)}
    return None


def _run_decompositions(program: Program, table: Table) -> Program:
    rewritten: Program = program.run_decompositions(table)
    return rewritten


def _make_table(outside: Outside) -> Table:
    """A decomposition of each op outside that has one, and of what leads to it."""
    table: Table = {}
    composed: Any = torch.export.default_decompositions()
    for node in _iter_nodes(outside):
        for name in outside.ops[node.name]:
            op = find_op(name)
            function = None if op is None else find_decomposition(op)
            if function is not None:
                table[op] = function
                if node.target is not op and node.target in composed:
                    table[node.target] = composed[node.target]
    return table


def _is_asked(op: Any, table: Table, outside: Outside) -> bool:
    """Whether an op of a table is an op outside, or leads to one that the table has, too."""
    lowered = {
        name
        for node in _iter_nodes(outside)
        if node.target is op
        for name in outside.ops[node.name]
    }
    return find_decomposition(op) is not None or any(str(other) in lowered for other in table)


def _find_useless(outside: Outside, rewritten: Program) -> set[Any]:
    """The ops whose decomposition has a part that stays outside as well."""
    targets = {node.name: node.target for node in _iter_nodes(outside)}
    sources = Origins(outside.program, nested=False)
    useless = set()
    for node in rewritten.graph.nodes:
        origin = sources.of(node) if node.op == "call_function" else ""
        target = targets.get(origin)
        if target is None or not isinstance(node.target, OpOverload):
            continue
        if str(node.target) in outside.ops[origin] or not outside.can_become(str(node.target)):
            useless |= {target, *map(find_op, outside.ops[origin])}
    return useless


def _iter_nodes(outside: Outside) -> Iterator[torch.fx.Node]:
    for node in outside.program.graph.nodes:
        if node.name in outside.ops and isinstance(node.target, OpOverload):
            yield node


def find_op(name: str) -> Any | None:
    """The op of a name as graphs have it: `aten.add.Tensor`."""
    target: Any = torch.ops
    for part in name.split("."):
        target = getattr(target, part, None)
    return target if isinstance(target, OpOverload) else None


PROGRAMS = (
    ProgramRewrite(
        "custom op",
        "Run a custom op as the ops of its Python code",
        lambda outside: bool(_find_bodies(outside)),
        _run_body,
    ),
    ProgramRewrite(
        "decomposition",
        "Decompose an op by torch's own table",
        lambda outside: bool(_make_table(outside)),
        _decompose,
    ),
)
"""The kinds of rewrites of a whole program."""
