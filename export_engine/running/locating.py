"""The first op at which a run's values part from eager's.

Where the program itself parts from eager, it is run op by op beside a trace of the model
(`guarantees.parting`). Where only a backend does, the graph is bisected: the program up to an op is
compiled by the backend, and held against the same, run by torch.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import torch

from export_engine.checking.comparing import compare
from export_engine.guarantees.parting import first_difference
from export_engine.keeping import module_kept
from export_engine.running.backend import Backend, Job
from export_engine.running.bench import Bench, to_cpu
from export_engine.stacks import parse_stack_trace
from export_engine.torch_internals import shortened_program

_SEED = 0
_LOOSE = 4.0


class Located(NamedTuple):
    """Where values part."""

    node: int
    """Into graph 0; -1 where it is not known."""
    sentence: str


def located(bench: Bench, backend: Backend, folder: Path) -> Located:
    """The op, as far as it can be found. Interrupts are passed on; other errors are an answer."""
    try:
        if bench.program_parts:
            return _of_program(bench)
        return _bisected(bench, backend, folder)
    except Exception:  # noqa: BLE001 - a help to the reader; the row stands without it
        return Located(-1, "At which op they part could not be found out.")


def _of_program(bench: Bench) -> Located:
    if bench.subject.eager is None:
        return Located(-1, "The program alone does not say at which op.")
    found = first_difference(bench.subject, bench.request, _SEED)
    names = [node.name for node in bench.subject.program.graph.nodes]
    number = names.index(found.node) if found.node in names else -1
    return Located(number, f"So does the exported program. {found.sentence}")


def _bisected(bench: Bench, backend: Backend, folder: Path) -> Located:
    """Halves the graph until one op is left: up to the op before, all agrees."""
    nodes = list(bench.program().graph.nodes)
    ops = [node for node in nodes if _gives_tensor(node)]
    good, bad = -1, len(ops) - 1
    if not ops or not _parts(bench, backend, ops[bad], folder):
        return Located(-1, "Every op by itself agrees; the outputs part later.")
    while bad - good > 1:
        middle = (good + bad) // 2
        if _parts(bench, backend, ops[middle], folder):
            bad = middle
        else:
            good = middle
    node = ops[bad]
    stack = parse_stack_trace(node.stack_trace or "")
    where = f", line {stack[-1].line}" if stack else ""
    said = f"The first op whose value is another is `{node.name}` ({node.target}{where})."
    return Located(nodes.index(node), said)


def _gives_tensor(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor)


def _parts(bench: Bench, backend: Backend, node: torch.fx.Node, folder: Path) -> bool:
    """Whether the value of an op is another, with all before it compiled by the backend."""
    full = bench.job(Path(mkdtemp(prefix="cut-", dir=folder)))
    short = shortened_program(full.program, node.name)
    module = short.module()
    with module_kept(module):  # of a moved program, nobody else puts its buffers back
        expected = bench.seeded(lambda: to_cpu(module(*full.args, **full.kwargs)))
    job = Job(
        program=short,
        model=None,
        args=bench.job(full.folder).args,
        kwargs=bench.job(full.folder).kwargs,
        device=full.device,
        folder=full.folder,
    )
    ready = bench.seeded(lambda: backend.prepare(job))
    result = bench.seeded(lambda: to_cpu(ready.result(ready.call())))
    return not compare([result], [expected], loose=_LOOSE).same
