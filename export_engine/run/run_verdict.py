"""The verdict on a run's outputs: they agree with eager, or where they differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import msgspec

from export_engine.attempt import NO_MODEL
from export_engine.defects import log_internal_error
from export_engine.findings import random_ops
from export_engine.listing import join_names
from export_engine.record import RunRow
from export_engine.run.backend import Backend, RandomBackend, Ready
from export_engine.run.divergence import locate_divergence
from export_engine.run.eager_baseline import Bench, align_with, to_cpu
from export_engine.run.failure_text import detail_of, sentence_of
from export_engine.run.half_precision import as_near_as_eager
from export_engine.run.repeated_calls import SeenCall, StateProblem, find_state_problem
from export_engine.torch_internals import pytree, revealing_program
from export_engine.verify import Divergence, describe_unwritten, find_mistyped


class Called(NamedTuple):
    """A backend's compiled program, and its calls in a row."""

    ready: Ready
    calls: list[SeenCall]


def compare_row(
    row: RunRow, bench: Bench, backend: Backend, called: Called, folder: Path
) -> tuple[RunRow, Any]:
    """The row with its outcome, and the result that it is about.

    A compiler draws other random numbers than eager, so where a program draws any, it is compiled
    once more to draw eager's, which is compared instead.

    Args:
        row: of the run, without an outcome.
        bench: what eager gives.
        backend: that ran.
        called: its first calls.
        folder: for what is compiled to find where they part.
    """
    drawn = "" if backend.name == "eager" else _random_op(bench)
    result = called.calls[0].result
    difference = bench.compare_with_eager(align_with(result, bench.reference))
    if drawn and not difference.same and isinstance(backend, RandomBackend):
        called = _as_eager_draws(bench, backend, folder)
        result = called.calls[0].result
        difference = bench.compare_with_eager(align_with(result, bench.reference))
    else:
        drawn = "" if difference.same else drawn
    rounded = (
        "" if difference.same else as_near_as_eager(bench, align_with(result, bench.reference))
    )
    row = msgspec.structs.replace(row, calls=len(called.calls))
    try:
        problem = _state_problem(bench, backend, called, folder, bool(drawn))
    except Exception as error:  # noqa: BLE001 - it cannot compile the program with more outputs
        log_internal_error(error, "looking at the buffers of a backend")
        row, problem = _fail_unknown_state(row, bench, backend, error), None
    if row.outcome == "failed" and (difference.same or rounded):
        return row, result
    mistyped = find_mistyped(bench.subject.program, result) if backend.name != "eager" else ""
    if (difference.same or rounded) and mistyped:
        names = join_names([context.name for context in bench.subject.exported.recording.contexts])
        exported = f": the export ran in {names}" if names else ""
        return _differing(row, f"{mistyped}{exported}."), result
    if difference.same or rounded:
        if problem is not None:
            return _differing(row, problem.sentence, lost=list(problem.lost)), result
        told = _agreement(bench, backend, drawn, rounded), describe_unwritten(bench.unwritten)
        text = " ".join(filter(None, told))
        return msgspec.structs.replace(row, outcome="agrees", sentence=text), result
    begins = f"Outputs differ from eager: {difference.detail}."
    if problem is not None and problem.starts:
        return _differing(row, f"{begins} {problem.sentence}", lost=list(problem.lost)), result
    if drawn and not isinstance(backend, RandomBackend) and not bench.program_parts:
        text = f"`{drawn}` draws random numbers, which differ between {backend.title} and eager."
        where = Divergence(
            "", f"{text} To compare, export without random ops, for example after `model.eval()`."
        )
    else:
        where = locate_divergence(bench, backend, folder)
    return _differing(row, f"{begins} {where.sentence}", node=_place(bench, where)), result


def _place(bench: Bench, where: Divergence) -> int:
    """The op's place in the main graph; -1 if it is not known."""
    names = [node.name for node in bench.subject.program.graph.nodes]
    return names.index(where.node) if where.node in names else -1


def _differing(row: RunRow, sentence: str, **found: Any) -> RunRow:
    return msgspec.structs.replace(row, outcome="differs", sentence=sentence, **found)


def _state_problem(
    bench: Bench, backend: Backend, called: Called, folder: Path, eager_random: bool
) -> StateProblem | None:
    """Whether what the program writes is kept; of a runtime's own memory by more outputs."""
    if not bench.written.names:
        return None
    calls = called.calls
    if bench.written.buffers and called.ready.buffer is None:
        calls = _reveal_buffers(bench, backend, calls, folder, eager_random)
    return find_state_problem(
        backend.title, calls, bench.reference_calls, bench.written, bench.differ
    )


def _reveal_buffers(
    bench: Bench, backend: Backend, calls: list[SeenCall], folder: Path, eager_random: bool
) -> list[SeenCall]:
    """The calls with what buffers hold before each, by a program that gives them as outputs."""
    names = bench.written.buffers
    job = bench.job(Path(mkdtemp(prefix="state-", dir=folder)), eager_random)
    job = replace(job, program=revealing_program(job.program, names), model=None)
    ready = bench.prepare(backend, job)
    seen = bench.run_seeded(
        lambda: bench.calls_in_a_row(lambda: ready.result(ready.call()), None, job)
    )
    result = []
    for one, other in zip(calls, seen, strict=True):
        leaves = [leaf for leaf in pytree.tree_leaves(to_cpu(other.result)) if leaf is not None]
        states = dict(zip(names, leaves[len(leaves) - len(names) :], strict=True))
        result.append(one._replace(before=states))
    return result


def _fail_unknown_state(row: RunRow, bench: Bench, backend: Backend, error: Exception) -> RunRow:
    names = bench.written.buffers
    why = sentence_of(error, backend.title, bench.device, "compile")
    return msgspec.structs.replace(
        row,
        outcome="failed",
        sentence=f"The outputs agree. Not checked: whether it keeps {join_names(names)}. {why}",
        detail=detail_of(error),
        lost=list(names),
    )


def _agreement(bench: Bench, backend: Backend, drawn: str, rounded: str) -> str:
    if backend.name == "eager":
        return ""
    written = bench.written.names
    over = f" over {len(bench.reference_calls)} calls in a row that write" if written else ""
    over = f"{over} {join_names(written)}" if written else ""
    if rounded:
        within = f"within the rounding of {rounded}: it is as close to float32 as eager is"
        return f"Agrees with eager{over} {within}."
    is_known = bench.subject.eager is not None
    if not is_known and backend.name == "program":
        return f"The other rows are compared with it. {NO_MODEL}"
    lacking = "" if is_known else f" {NO_MODEL}"
    beside = "eager" if is_known else "the exported program"
    if not drawn:
        return f"Agrees with {beside}{over}.{lacking}"
    return (
        f"Agrees with {beside}{over} with the same random numbers; compiled normally, `{drawn}` "
        f"draws different ones.{lacking}"
    )


def _as_eager_draws(bench: Bench, backend: Backend, folder: Path) -> Called:
    job = bench.job(Path(mkdtemp(dir=folder)), eager_random=True)
    ready = bench.prepare(backend, job)
    calls = bench.run_seeded(
        lambda: bench.calls_in_a_row(lambda: ready.result(ready.call()), ready.buffer, job)
    )
    return Called(ready, calls)


def _random_op(bench: Bench) -> str:
    """The name of the first op that draws random numbers, or runs one; empty if none does."""
    drawn = random_ops(bench.subject.record)
    nodes = list(bench.subject.program.graph.nodes)
    return nodes[drawn[0].position].name if drawn else ""
