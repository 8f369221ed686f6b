"""Compiles a program with provenance on, and makes Stages of what torch told meanwhile."""

from __future__ import annotations

import tempfile
import time
from array import array
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch

from export_engine.attempt import Exported, GivenGraph
from export_engine.plain_errors import WrongArgument
from export_engine.progress import Report
from export_engine.record import Record, Stages
from export_engine.run import (
    Backend,
    Bench,
    Inputs,
    Job,
    Ready,
    RuntimeBackend,
    backends,
    calls_of,
    missing_for,
    present_device,
)
from export_engine.stages.joining import (
    Joined,
    Provenance,
    is_consistent,
    join_stages,
    read_provenance,
)
from export_engine.stages.joint_step import compile_step
from export_engine.stages.kernel_calls import base_name
from export_engine.stages.kernel_times import time_kernels
from export_engine.stages.program_ops import list_computing_ops
from export_engine.stages.runtimes import CALLS, join_runtime, time_calls
from export_engine.stages.steps import StagesMissing, Steps
from export_engine.torch_internals import (
    caches_off,
    compilation_traced,
    compiler_options,
    find_unknown_options,
    kernels_recorded,
    missing_provenance,
    torch_options,
)
from export_engine.trace import CompilationTrace
from export_engine.verify import examine

COMPILERS = ("inductor", "aoti")
RUNTIMES = ("onnx", "openvino", "executorch")
"""Backends that tell which nodes they run."""
_WHOLE = ("capture_scalar_outputs", "capture_dynamic_output_shape_ops")
"""Options of Dynamo's: with them it makes one graph of a program whose sizes depend on data."""


def compile_stages(
    exported: Exported | GivenGraph,
    record: Record,
    backend: str = "inductor",
    device: str = "cpu",
    inputs: Inputs = None,
    options: Mapping[str, Any] | None = None,
    progress: Report | None = None,
) -> Stages:
    """Compiles a copy of a program, and times its kernels.

    Args:
        exported: whose program; or a training step, whose two passes are compiled.
        record: the same, described.
        backend: `inductor` or `aoti`; `onnx`, `openvino` or `executorch` for what the runtime runs.
        device: where it runs.
        inputs: what to run it with; the example's by default.
        options: of the compiler, as `torch.compile(options=...)` takes them.
        progress: called before each step.

    Raises:
        StagesMissing: it does not compile, or this torch or machine cannot tell.
        WrongArgument: there is no such backend, device or input.
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    device = present_device(device)
    _check_options(options or {})
    if isinstance(exported, GivenGraph):
        if backend not in COMPILERS[:1]:
            raise WrongArgument("Only inductor compiles a training step: omit the backend.")
        if inputs is not None:
            raise WrongArgument(
                "A training step is compiled with the inputs that it was traced with."
            )
        _compiler(backend, device)
        return compile_step(exported, record, device, options or {}, progress)
    chosen = _compiler(backend, device)
    if options and backend in RUNTIMES:
        raise WrongArgument(f"{chosen.title} accepts no Inductor options.")
    steps = Steps(progress)
    with examine(exported, record, 0) as subject, tempfile.TemporaryDirectory() as folder:
        if subject.without_values:
            raise StagesMissing(subject.without_values)
        bench = Bench(subject, calls_of(subject, inputs, None)[0], device)
        if bench.other_inputs:
            raise WrongArgument(f"The program rejects these inputs: {bench.other_inputs}.")
        own = Path(folder)
        if isinstance(chosen, RuntimeBackend):
            return _convert(record, chosen, bench, own, steps)
        compiled = _Compiled(bench, chosen, own, dict(options or {}), steps)
        trace, ready, seconds = compiled.run(nullcontext())
        joined, provenance = _join_trace(record, trace)
        if trace.cached and not is_consistent(record, joined, provenance):
            steps.say("compiling again: the cache has the kernels of another program's lines")
            trace, ready, seconds = compiled.run(caches_off())
            joined, provenance = _join_trace(record, trace)
        steps.say("timing kernels")
        names = [base_name(kernel.name) for kernel in joined.kernels if kernel.kind == "fused"]
        record_kernels = partial(kernels_recorded, trace.path, names)
        timed = bench.run_seeded(
            lambda: time_kernels(joined.kernels, ready.call, device, steps.count, record_kernels)
        )
    return Stages(
        backend=backend,
        title=chosen.title,
        settings=", ".join(f"{name}={value!r}" for name, value in (options or {}).items()),
        device=device,
        inputs=bench.call.label,
        torch_version=str(torch.__version__),
        seconds=round(seconds, 3),
        cached=trace.cached,
        exported=len(list_computing_ops(record)),
        graphs=joined.graphs,
        kernels=timed.kernels,
        lines=joined.lines,
        codes=joined.codes,
        removed=array("i", joined.removed if trace.graphs < 2 else []),
        remarks=joined.remarks,
        guards=joined.guards,
        times=timed.times,
        left_out=list(_describe_absent(trace, joined)),
    )


def _convert(
    record: Record, runtime: RuntimeBackend, bench: Bench, folder: Path, steps: Steps
) -> Stages:
    """The nodes that a runtime runs, timed; its calls are also timed without a profile."""
    steps.say("converting")
    started = time.perf_counter()
    try:
        ready: Ready = bench.run_seeded(lambda: runtime.prepare(bench.job(folder)))
        seconds = time.perf_counter() - started
        steps.say("timing nodes")
        nodes = bench.run_seeded(lambda: runtime.nodes(bench.job(folder), CALLS))
        took = time_calls(ready.call)
    except Exception as error:
        text = str(error).strip().partition("\n")[0]
        raise StagesMissing(
            f"{runtime.title} does not convert this program: {type(error).__name__}: {text}"
        ) from error
    joined = join_runtime(record, runtime.title, nodes, took)
    return Stages(
        backend=runtime.name,
        title=runtime.title,
        device=bench.device,
        inputs=bench.call.label,
        torch_version=str(torch.__version__),
        seconds=round(seconds, 3),
        exported=len(list_computing_ops(record)),
        graphs=joined.graphs,
        kernels=joined.kernels,
        lines=joined.lines,
        times=joined.times,
        left_out=joined.left_out,
    )


class _Compiled:
    """Compiles a program for one call."""

    def __init__(
        self, bench: Bench, backend: Backend, folder: Path, options: dict[str, Any], steps: Steps
    ) -> None:
        self._bench = bench
        self._backend = backend
        self._folder = folder
        self._options = options
        self._steps = steps

    def run(self, around: AbstractContextManager[None]) -> tuple[CompilationTrace, Ready, float]:
        """The trace, what runs the code, and the seconds that compiling took."""
        self._steps.say("tracing")
        job: Job = self._bench.job(self._folder)
        started = time.perf_counter()
        with (
            around,
            compiler_options(self._options),
            torch_options(_WHOLE),
            compilation_traced(
                self._steps.artifact, in_python=self._backend.name == "inductor"
            ) as trace,
        ):
            try:
                ready: Ready = self._bench.run_seeded(lambda: self._backend.prepare(job))
            except Exception as error:
                text = str(error).strip().partition("\n")[0]
                raise StagesMissing(
                    f"{self._backend.title} does not compile this program: "
                    f"{type(error).__name__}: {text}"
                ) from error
        return trace, ready, time.perf_counter() - started


def _check_options(options: Mapping[str, Any]) -> None:
    """Raises WrongArgument for an option that the compiler does not have."""
    unknown = find_unknown_options(options)
    if unknown:
        raise WrongArgument(
            f"Inductor has no option {unknown[0]!r}; torch.compile's docs list its options."
        )


def _compiler(name: str, device: str) -> Backend:
    """The backend, which can run here."""
    if name not in (*COMPILERS, *RUNTIMES):
        text = ", ".join((*COMPILERS, *RUNTIMES))
        raise WrongArgument(f"{name!r} has no stages; these have: {text}.")
    chosen = backends()[name]
    missing = missing_provenance() if name in COMPILERS else ""
    missing = missing or missing_for(chosen, device)
    if missing:
        raise StagesMissing(missing)
    return chosen


def _join_trace(record: Record, trace: CompilationTrace) -> tuple[Joined, Provenance]:
    provenance = read_provenance(trace.texts)
    return join_stages(record, trace.texts, provenance), provenance


def _describe_absent(trace: CompilationTrace, joined: Joined) -> Iterator[str]:
    """Sentences on what the stages lack."""
    if not joined.kernels:
        yield "torch reported no kernel for this program: nothing is left to compute."
    if trace.graphs > 1:
        yield f"Dynamo made {trace.graphs} graphs of this program. Only the first is shown."
    absent = [
        rung
        for name, rung in (
            ("before_post_grad_graph", "the decomposed graph"),
            ("inductor_post_grad_graph", "the post-grad graph"),
            ("inductor_provenance_tracking_node_mappings", "the ops of kernels"),
        )
        if name not in trace.texts
    ]
    if absent and trace.texts:
        why = (
            "the code came from torch's cache, which does not keep it"
            if trace.cached
            else "this version of torch did not report it"
        )
        yield f"Not shown: {', '.join(absent)}; {why}."
