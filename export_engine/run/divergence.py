"""The first op at which a run diverges from eager.

If the program itself diverges, it is run op by op along with a trace of the model
(`verify.first_divergence`). If only a backend does, the graph is bisected: the program up to an op
is compiled by the backend, and compared with the same program run by torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import torch

from export_engine.capture import model_kept
from export_engine.defects import passed_over
from export_engine.run.backend import Backend
from export_engine.run.eager_baseline import LOOSE, SEED, Bench, to_cpu
from export_engine.source import parse_stack_trace
from export_engine.torch_internals import shortened_program
from export_engine.verify import compare, first_difference


class Located(NamedTuple):
    """Where values diverge."""

    node: int
    """Into graph 0; -1 where it is not known."""
    sentence: str


def located(bench: Bench, backend: Backend, folder: Path) -> Located:
    """The first diverging op, if it can be found.

    Interrupts propagate; other errors count as unknown.
    """
    try:
        if bench.program_parts:
            return _of_program(bench)
        return _bisected(bench, backend, folder)
    except Exception as error:  # noqa: BLE001 - a help to the reader; the row stands without it
        passed_over(error, "looking for the op at which a backend diverges")
        return Located(-1, "The first op that diverges could not be located.")


_BY_ITSELF = "The exported program by itself differs."
"""Whatever the backend: the row of the program itself has it too."""


def _of_program(bench: Bench) -> Located:
    if bench.subject.eager is None:
        return Located(-1, "Which op diverges is unknown.")
    found = first_difference(bench.subject, bench.request, SEED)
    names = [node.name for node in bench.subject.program.graph.nodes]
    number = names.index(found.node) if found.node in names else -1
    return Located(number, f"{_BY_ITSELF} {found.sentence}")


def _bisected(bench: Bench, backend: Backend, folder: Path) -> Located:
    """Bisects an output's ancestors down to one op whose inputs all agree.

    A value may be wrong, then right again, as after a normalization, so the op found may have a
    wrong input: that input's ancestors are bisected in turn.
    """
    nodes = list(bench.program().graph.nodes)
    known: dict[torch.fx.Node, bool] = {}

    def parts(node: torch.fx.Node) -> bool:
        if node not in known:
            known[node] = _parts(bench, backend, node, folder)
        return known[node]

    wrong = [node for node in _outputs(bench, nodes) if parts(node)]
    if not wrong:
        return Located(-1, "Each output agrees on its own; together they do not.")
    found = wrong[0]
    while wrong:
        found = _first(_made_from(wrong[0], nodes), parts)
        wrong = [node for node in found.all_input_nodes if _gives_tensor(node) and parts(node)]
    stack = parse_stack_trace(found.stack_trace or "")
    where = f", line {stack[-1].line}" if stack else ""
    said = f"The first op whose output diverges is `{found.name}` ({found.target}{where})."
    return Located(nodes.index(found), said)


def _outputs(bench: Bench, nodes: list[torch.fx.Node]) -> list[torch.fx.Node]:
    """The ops whose values are the program's outputs."""
    names = {spec.arg.name for spec in bench.subject.program.graph_signature.output_specs}
    return [node for node in nodes if node.name in names and _gives_tensor(node)]


def _made_from(node: torch.fx.Node, nodes: list[torch.fx.Node]) -> list[torch.fx.Node]:
    """The ops that an op's value depends on, in order, and itself as the last."""
    needed, waiting = {node}, [node]
    while waiting:
        fresh = set(waiting.pop().all_input_nodes) - needed
        needed |= fresh
        waiting += fresh
    return [each for each in nodes if each in needed and _gives_tensor(each)]


def _first(ops: list[torch.fx.Node], parts: Callable[[torch.fx.Node], bool]) -> torch.fx.Node:
    """The first op of a list that diverges, by bisection; the last is known to."""
    good, bad = -1, len(ops) - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if parts(ops[middle]):
            bad = middle
        else:
            good = middle
    return ops[bad]


def _gives_tensor(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor)


def _parts(bench: Bench, backend: Backend, node: torch.fx.Node, folder: Path) -> bool:
    """Whether an op's value differs, with everything up to it compiled by the backend."""
    full = bench.job(Path(mkdtemp(prefix="cut-", dir=folder)))
    short = shortened_program(full.program, node.name)
    module = short.module()
    with model_kept(module):  # a moved program's buffers are not restored elsewhere
        expected = bench.seeded(lambda: to_cpu(module(*full.args, **full.kwargs)))
    job = replace(bench.job(full.folder), program=short, model=None)  # its inputs are untouched
    ready = bench.seeded(lambda: backend.prepare(job))
    result = bench.seeded(lambda: to_cpu(ready.result(ready.call())))
    return not compare([result], [expected], loose=LOOSE).same
