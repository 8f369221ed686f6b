"""Stages of compiled code: its artifacts joined with the program, and its kernels timed."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from traceback import walk_tb
from typing import Any, NamedTuple

import torch

from export_engine.process import undone
from export_engine.record import Record, Stages
from export_engine.stages.joining import Artifacts, Ladder, is_consistent, read_provenance
from export_engine.stages.kernel_calls import base_name
from export_engine.stages.kernel_times import time_kernels
from export_engine.stages.program_ops import list_computing_ops
from export_engine.stages.steps import Steps, describe_error, explain_failure
from export_engine.torch_internals import caches_off, compiler_options, kernels_recorded
from export_engine.trace import CompilationTrace

_CALL = "call"
"""Inductor's name of the function that calls the kernels, in the code that it generates."""


class Compiled(NamedTuple):
    """Compiled code of one graph, or of several that run one after the other."""

    traces: Sequence[CompilationTrace]
    """Of each graph, in the order of the calls."""
    call: Callable[[], Any]
    """Runs all of them once."""
    join: Callable[[Record, Sequence[Artifacts]], Ladder]
    """Joins the artifacts of the graphs with the program."""


class Compiler(NamedTuple):
    """A compiler of one program."""

    backend: str
    title: str
    inputs: str
    """The values that its code is called with."""
    device: str
    options: Mapping[str, Any]
    compile: Callable[[], Compiled]
    failed: str
    """The sentence before an error: `AOTInductor does not compile this program`."""


def make_stages(record: Record, compiler: Compiler, steps: Steps) -> Stages:
    """Compiles a program, again where torch's cache has other lines, and times its kernels.

    Raises:
        StagesMissing: it does not compile.
        KeyboardInterrupt: interrupted.
    """
    compiled, told, seconds = _compile(compiler, nullcontext())
    ladder = compiled.join(record, told)
    if any(trace.cached for trace in compiled.traces) and not _is_consistent(record, ladder, told):
        steps.say("compiling again: the cache has the kernels of another program's lines")
        compiled, told, seconds = _compile(compiler, caches_off())
        ladder = compiled.join(record, told)
    steps.say("timing kernels")
    joined, parts, traces = ladder.joined, ladder.parts, compiled.traces
    timed, untimed = None, list[str]()
    try:
        timed = time_kernels(
            joined.kernels,
            partial(_call, compiled.call),
            compiler.device,
            steps.count,
            partial(_record_kernels, ladder, traces),
        )
    except _CallFailed as failed:
        untimed = [_describe_failed(failed.error, ladder, traces)]
    return Stages(
        backend=compiler.backend,
        title=compiler.title,
        settings=", ".join(f"{name}={value!r}" for name, value in compiler.options.items()),
        device=compiler.device,
        inputs=compiler.inputs,
        torch_version=str(torch.__version__),
        seconds=round(seconds, 3),
        cached=any(trace.cached for trace in traces),
        exported=len(list_computing_ops(record)),
        graphs=joined.graphs,
        kernels=timed.kernels if timed else joined.kernels,
        backward=len(parts[0].kernels) if len(parts) > 1 else -1,
        lines=joined.lines,
        codes=joined.codes,
        removed=array("i", [] if any(trace.graphs > 1 for trace in traces) else joined.removed),
        remarks=joined.remarks,
        guards=joined.guards,
        times=timed.times if timed else None,
        left_out=[*untimed, *_describe_absent(traces, joined.kernels)],
    )


class _CallFailed(Exception):
    """The compiled code fails when it runs."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def _call(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        raise _CallFailed(error) from error


def _compile(
    compiler: Compiler, around: AbstractContextManager[None]
) -> tuple[Compiled, list[Artifacts], float]:
    """The code, its artifacts, and the seconds that compiling took."""
    started = time.perf_counter()
    with around, compiler_options(compiler.options):
        try:
            compiled = compiler.compile()
        except Exception as error:
            raise explain_failure(compiler.failed, error) from error
    seconds = time.perf_counter() - started
    told = [Artifacts(trace.texts, read_provenance(trace.texts)) for trace in compiled.traces]
    return compiled, told, seconds


def _is_consistent(record: Record, ladder: Ladder, told: Sequence[Artifacts]) -> bool:
    return all(
        is_consistent(record, joined, artifacts.provenance)
        for joined, artifacts in zip(ladder.parts, told, strict=True)
    )


@undone
def _record_kernels(ladder: Ladder, traces: Sequence[CompilationTrace]) -> Iterator[None]:
    """Inside, the generated kernels have events of the profiler."""
    with ExitStack() as stack:
        for joined, trace in zip(ladder.parts, traces, strict=True):
            names = [base_name(kernel.name) for kernel in joined.kernels if kernel.kind == "fused"]
            stack.enter_context(kernels_recorded(trace.path, names))
        yield


def find_failing_line(error: Exception, trace: CompilationTrace) -> int:
    """The line of the generated Python code whose call fails; 0 if that code does not run."""
    lines = [
        line
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_code.co_filename == trace.path and frame.f_code.co_name == _CALL
    ]
    return lines[-1] if lines else 0


def make_failing_call(error: Exception) -> Callable[[], Any]:
    """A call that fails as compiled code did."""

    def call() -> Any:
        raise error

    return call


def _describe_failed(error: Exception, ladder: Ladder, traces: Sequence[CompilationTrace]) -> str:
    """A sentence on code that compiles and fails when it runs: in which kernel, of which lines."""
    where = "when it runs"
    joined = ladder.joined
    begins = 0
    for part, trace in zip(ladder.parts, traces, strict=True):
        line, ends = find_failing_line(error, trace), begins + len(part.kernels)
        before = [kernel for kernel in joined.kernels[begins:ends] if kernel.call_line <= line]
        if before:
            kernel = max(before, key=lambda each: each.call_line)
            rows = [joined.lines[number] for number in kernel.lines]
            places = ", ".join(f"{row.name}:{row.line}" for row in rows) or "no known line"
            where = f"in the call of `{kernel.name}` ({places})"
        begins = ends
    return f"Not timed: the compiled code fails {where}: {describe_error(error)}"


def _describe_absent(
    traces: Sequence[CompilationTrace], kernels: Sequence[object]
) -> Iterable[str]:
    """Sentences on what the stages lack."""
    if not kernels:
        yield "torch reported no kernel for this program: nothing is left to compute."
    graphs = max(trace.graphs for trace in traces)
    if graphs > 1:
        yield f"Dynamo made {graphs} graphs of this program. Only the first is shown."
    absent = [
        rung
        for name, rung in (
            ("before_post_grad_graph", "the decomposed graph"),
            ("inductor_post_grad_graph", "the post-grad graph"),
            ("inductor_provenance_tracking_node_mappings", "the ops of kernels"),
        )
        if any(trace.texts and name not in trace.texts for trace in traces)
    ]
    if absent:
        why = (
            "the code came from torch's cache, which does not keep it"
            if any(trace.cached for trace in traces)
            else "this version of torch did not report it"
        )
        yield f"Not shown: {', '.join(absent)}; {why}."
