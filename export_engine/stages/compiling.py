"""Compiles a program with provenance on, and makes Stages of what torch told meanwhile."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
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
from export_engine.stages.compiled import (
    Compiled,
    Compiler,
    find_failing_line,
    make_failing_call,
    make_stages,
)
from export_engine.stages.joining import Artifacts, Ladder, join_stages
from export_engine.stages.joint_step import compile_step
from export_engine.stages.program_ops import list_computing_ops
from export_engine.stages.runtimes import CALLS, join_runtime, time_calls
from export_engine.stages.steps import StagesMissing, Steps, explain_failure
from export_engine.torch_internals import (
    compilation_traced,
    find_unknown_options,
    missing_provenance,
    torch_options,
)
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
        compiler = Compiler(
            backend=backend,
            title=chosen.title,
            inputs=bench.call.label,
            device=device,
            options=options or {},
            compile=lambda: _compile(bench, chosen, own, steps),
            failed=f"{chosen.title} does not compile this program",
        )
        stages: Stages = bench.run_seeded(lambda: make_stages(record, compiler, steps))
    return stages


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
        failed = f"{runtime.title} does not convert this program"
        raise explain_failure(failed, error) from error
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


def _compile(bench: Bench, backend: Backend, folder: Path, steps: Steps) -> Compiled:
    """Compiles a program for one call."""
    steps.say("tracing")
    job: Job = bench.job(folder)
    in_python = backend.name == "inductor"
    with (
        torch_options(_WHOLE),
        compilation_traced(steps.artifact, in_python=in_python) as trace,
    ):
        try:
            ready: Ready = bench.run_seeded(lambda: backend.prepare(job))
        except Exception as error:
            if not find_failing_line(error, trace):
                raise
            return Compiled([trace], make_failing_call(error), _join)
    return Compiled([trace], ready.call, _join)


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


def _join(record: Record, told: Sequence[Artifacts]) -> Ladder:
    joined = join_stages(record, *told[0])
    return Ladder(joined, [joined])
