"""The first op at which a run diverges from eager.

If the program itself diverges, it is run op by op along with a trace of the model. If only a
backend does, the graph is bisected: the program up to an op is compiled by the backend, and
compared with the same program run by torch. `verify.first_divergence` finds the op of both.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import torch

from export_engine.capture import model_kept
from export_engine.defects import log_internal_error
from export_engine.run.backend import Backend
from export_engine.run.eager_baseline import LOOSE, SEED, Bench, to_cpu
from export_engine.torch_internals import truncate_program
from export_engine.verify import (
    UNKNOWN,
    Divergence,
    bisect,
    compare,
    first_difference,
    makes_tensor,
)

_BY_ITSELF = "The exported program already differs."
"""Whatever the backend: the row of the program itself has it too."""


def locate_divergence(bench: Bench, backend: Backend, folder: Path) -> Divergence:
    """The first diverging op, if it can be found.

    Interrupts propagate; other errors count as unknown.
    """
    try:
        if bench.program_parts:
            return _of_program(bench)
        nodes = list(bench.program().graph.nodes)
        return bisect(nodes, _outputs(bench, nodes), partial(_differs, bench, backend, folder))
    except Exception as error:  # noqa: BLE001 - a help to the reader; the row stands without it
        log_internal_error(error, "looking for the op at which a backend diverges")
        return UNKNOWN


def _of_program(bench: Bench) -> Divergence:
    if bench.subject.eager is None:
        return Divergence("", "Which op diverges is unknown.")
    divergence = first_difference(bench.subject, bench.request, SEED)
    return divergence._replace(sentence=f"{_BY_ITSELF} {divergence.sentence}")


def _outputs(bench: Bench, nodes: list[torch.fx.Node]) -> list[torch.fx.Node]:
    """The ops whose values are the program's outputs."""
    names = {spec.arg.name for spec in bench.subject.program.graph_signature.output_specs}
    return [node for node in nodes if node.name in names and makes_tensor(node)]


def _differs(bench: Bench, backend: Backend, folder: Path, node: torch.fx.Node) -> bool:
    """Whether an op's value differs, with everything up to it compiled by the backend."""
    full = bench.job(Path(mkdtemp(prefix="cut-", dir=folder)))
    short = truncate_program(full.program, node.name)
    module = short.module()
    with model_kept(module):  # a moved program's buffers are not restored elsewhere
        expected = bench.run_seeded(lambda: to_cpu(module(*full.args, **full.kwargs)))
    job = replace(bench.job(full.folder), program=short, model=None)  # its inputs are untouched
    ready = bench.run_seeded(lambda: backend.prepare(job))
    result = bench.run_seeded(lambda: to_cpu(ready.result(ready.call())))
    return not compare([result], [expected], loose=LOOSE).same
