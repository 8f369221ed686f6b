"""What is said of a run's outputs: they agree with eager, or where they differ."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec
import torch

from export_engine.findings import random_ops
from export_engine.record import RunRow
from export_engine.run.backend import Backend, RandomBackend, Ready
from export_engine.run.divergence import Located, located
from export_engine.run.eager_baseline import Bench, detached
from export_engine.run.half_precision import as_near_as_eager
from export_engine.torch_internals import pytree


def compared(
    row: RunRow, bench: Bench, backend: Backend, result: Any, folder: Path
) -> tuple[RunRow, Any]:
    """The row with its outcome, and the result that it is about.

    A compiler draws other random numbers than eager, so where a program draws any, it is compiled
    once more to draw eager's, which is compared instead.

    Args:
        row: of the run, without an outcome.
        bench: what eager gives.
        backend: that ran.
        result: of its first call.
        folder: for what is compiled to find where they part.
    """
    drawn = "" if backend.name == "eager" else _random_op(bench)
    found = bench.compared(aligned(result, bench.reference))
    if drawn and not found.same and isinstance(backend, RandomBackend):
        result = _as_eager_draws(bench, backend, folder)
        found = bench.compared(aligned(result, bench.reference))
    else:
        drawn = "" if found.same else drawn
    rounded = "" if found.same else as_near_as_eager(bench, aligned(result, bench.reference))
    if found.same or rounded:
        said = _agreement(bench, backend, drawn, rounded)
        return msgspec.structs.replace(row, outcome="agrees", sentence=said), result
    if drawn and not isinstance(backend, RandomBackend) and not bench.program_parts:
        said = f"`{drawn}` draws random numbers, and {backend.title} draws others than eager."
        where = Located(-1, f"{said} To compare, export it without, as after `model.eval()`.")
    else:
        where = located(bench, backend, folder)
    return msgspec.structs.replace(
        row,
        outcome="differs",
        sentence=f"Outputs differ from eager: {found.detail}. {where.sentence}",
        node=where.node,
    ), result


def _agreement(bench: Bench, backend: Backend, drawn: str, rounded: str) -> str:
    if backend.name == "eager":
        return ""
    if rounded:
        return f"Agrees with eager within the rounding of {rounded}: it is as near to float32."
    beside = "eager" if bench.subject.eager is not None else "the exported program"
    if not drawn:
        return f"Agrees with {beside}."
    return (
        f"Agrees with {beside} where it draws the same random numbers; compiled without that, "
        f"`{drawn}` draws others."
    )


def _as_eager_draws(bench: Bench, backend: Backend, folder: Path) -> Any:
    job = bench.job(Path(mkdtemp(dir=folder)), eager_random=True)
    ready = bench.seeded(lambda: backend.prepare(job))
    return as_result(ready, bench.seeded(ready.call))


def _random_op(bench: Bench) -> str:
    """The name of the first op that draws random numbers, or runs one; empty if none does."""
    drawn = random_ops(bench.subject.record)
    nodes = list(bench.subject.program.graph.nodes)
    return nodes[drawn[0].position].name if drawn else ""


def as_result(ready: Ready, raw: Any) -> Any:
    """The result of a call, as tensors that the next call does not overwrite."""
    return detached(ready.result(raw))


def aligned(result: Any, reference: Any) -> Any:
    """Converts tensors back to numbers where eager returns numbers.

    A lone tensor that stands for a Python number is that number.
    """
    ours = [leaf for leaf in pytree.tree_leaves(result) if leaf is not None]
    theirs = [leaf for leaf in pytree.tree_leaves(reference) if leaf is not None]
    if len(ours) != len(theirs):
        return result
    return [
        one.item()
        if isinstance(one, torch.Tensor) and one.numel() == 1 and isinstance(other, int | float)
        else one
        for one, other in zip(ours, theirs, strict=True)
    ]
