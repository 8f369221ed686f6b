"""A program without `torch.no_grad` graphs: their ops are in the main graph.

torch's decompositions put them there, so such a program pairs with a decomposed one op by op.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from torch.export import ExportedProgram
from torch.fx import Node

from export_engine.describe import describe
from export_engine.record import Record
from export_engine.torch_internals import copy_program, pytree
from export_engine.values.pair_error import PairError, RunOf

_WRAPS = "wrap_with_set_grad_enabled"
Place = tuple[int, int]
"""A graph of a Record and a node."""


class Inlined(NamedTuple):
    """A run of a program that may have been inlined."""

    run: RunOf
    places: dict[int, Place]
    """Where each node of its main graph is in the program before; empty where nothing was."""

    def back(self, row: PairError) -> PairError:
        """A row with places of the program before."""
        if not self.places or row.graph:
            return row
        graph, node = self.places[row.node]
        fault = row.fault if row.fault[0] else self.places[row.fault[1]]
        return row._replace(graph=graph, node=node, fault=fault)


def both_inlined(one: RunOf, other: RunOf) -> tuple[Inlined, Inlined]:
    """Two runs, one of them inlined where only that one has such graphs."""
    items = [any(_wraps(run.exported.program)) for run in (one, other)]
    if items[0] == items[1]:
        return Inlined(one, {}), Inlined(other, {})
    mine, theirs = (
        _inline_run(run) if has else Inlined(run, {})
        for run, has in zip((one, other), items, strict=True)
    )
    return mine, theirs


def _wraps(program: ExportedProgram) -> Iterator[Node]:
    for node in program.graph.nodes:
        if node.op == "call_function" and getattr(node.target, "__name__", "") == _WRAPS:
            yield node


def _inline_run(run: RunOf) -> Inlined:
    program = copy_program(run.exported.program)
    record = run.record
    strings = record.strings
    places: dict[str, Place] = {
        strings[name]: (0, number) for number, name in enumerate(record.graphs[0].name)
    }
    while (node := next(_wraps(program), None)) is not None:
        _inline(program, node, record, places)
    program.graph_module.graph.lint()
    program.graph_module.recompile()
    attempt = replace(run.exported, program=program)
    result = describe(attempt)
    names = (result.strings[name] for name in result.graphs[0].name)
    entries = {number: places[name] for number, name in enumerate(names)}
    return Inlined(run._replace(exported=attempt, record=result), entries)


def _inline(program: ExportedProgram, node: Node, record: Record, places: dict[str, Place]) -> None:
    """Puts the ops of the graph that a node runs before it, and takes the node out."""
    graph = program.graph
    named: Any = node.args[1]
    module = program.graph_module.get_submodule(named.target)
    at, number = places[node.name]
    inner = next(
        nested_graph.graph
        for nested_graph in record.graphs[at].nested
        if nested_graph.node == number
    )
    copies: dict[Node, Any] = {}
    items = iter(node.args[2:])
    results: list[Any] = []
    with graph.inserting_before(node):
        for number, inner_node in enumerate(module.graph.nodes):
            if inner_node.op == "placeholder":
                copies[inner_node] = next(items)
            elif inner_node.op == "output":
                results = [copies.get(one, one) for one in pytree.tree_leaves(inner_node.args[0])]
            else:
                made = graph.node_copy(inner_node, lambda one: copies[one])
                if made.op == "get_attr":
                    made.target = f"{named.target}.{inner_node.target}"
                copies[inner_node] = made
                places[made.name] = inner, number
    for user in list(node.users):
        result = results[user.args[1]]  # type: ignore[index]
        user.replace_all_uses_with(result)
        program.graph_signature.replace_all_uses(user.name, result.name)
        graph.erase_node(user)
    graph.erase_node(node)
    if not named.users:
        graph.erase_node(named)
