"""One run: compiled, called, compared, timed; or why not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec
import torch

from export_engine.defects import describe_defect, is_ours, log_internal_error, report_of, user_code
from export_engine.error_text import error_text
from export_engine.process import gpu_unchecked
from export_engine.record import RunRow, RunTimes
from export_engine.run.backend import Backend, Job, Ready
from export_engine.run.eager_baseline import Bench
from export_engine.run.failure_text import detail_of, sentence_of
from export_engine.run.measure import bytes_of, peak_memory, time_call, warm_times
from export_engine.run.output_error import error_of
from export_engine.run.repeated_calls import SeenCall
from export_engine.run.run_verdict import Called, compare_row
from export_engine.run.torch_devices import synchronize
from export_engine.verify import without_unwritten

_FAR_SLOWER = 8
"""Times the quickest of the same call: it is timed again, for the machine may have been busy."""


def unavailable(backend: Backend, device: str, inputs: str, reason: str) -> RunRow:
    """The row of a run that is not possible here."""
    return RunRow(
        backend=backend.name,
        title=backend.title,
        device=device,
        inputs=inputs,
        outcome="unavailable",
        sentence=reason,
        torch_version=str(torch.__version__),
    )


def run_one(bench: Bench, backend: Backend, folder: Path) -> RunRow:
    """Runs a backend. Errors go into its row; an interrupt propagates."""
    row = unavailable(backend, bench.device, bench.call.label, "")
    stage = "inputs"
    try:
        own = Path(mkdtemp(prefix=f"{backend.name}-", dir=folder))
        job = bench.job(own)
        seeded = bench.in_eager if backend.name == "eager" else bench.run_seeded
        stage = "program"
        if backend.name != "eager" and bench.other_inputs:
            return _refuse(row, bench.other_inputs)
        stage = "eager"
        reference = bench.reference
        stage = "program"
        if backend.name != "eager" and bench.broken_condition:
            return _refuse(row, bench.broken_condition)
        stage = "compile"
        started = time.perf_counter()
        ready = bench.prepare(backend, job)
        synchronize(bench.device)
        prepare = time.perf_counter() - started
        stage = "run"
        with user_code(backend.title):
            calls, first = seeded(lambda: _first_calls(ready, bench, job))
        row, result = compare_row(row, bench, backend, Called(ready, calls), own)
        row = msgspec.structs.replace(
            row,
            error=error_of(*(without_unwritten(e, bench.unwritten) for e in (result, reference))),
            size=bytes_of(ready.saved) if ready.saved else -1,
            saved=str(ready.saved or ""),
            sentence=" ".join(filter(None, [row.sentence, ready.note])),
        )
        return _add_times(row, bench, seeded, lambda: _measure(ready, bench, first, prepare))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a failure of this run only
        log_internal_error(error, "running by a backend")
        _give_back(bench.device)
        if is_ours(error):
            doing = f"running with {backend.title}"
            return msgspec.structs.replace(
                row,
                outcome="failed",
                sentence=describe_defect(error, doing),
                detail=report_of(error, doing),
            )
        sentence = sentence_of(error, backend.title, bench.device, stage)
        return msgspec.structs.replace(
            row, outcome="failed", sentence=sentence, detail=detail_of(error)
        )


def _add_times(
    row: RunRow,
    bench: Bench,
    seeded: Callable[[Callable[[], Any]], Any],
    measure: Callable[[], tuple[RunTimes, int]],
) -> RunRow:
    """The row with times, which thousands of calls take: a state that only grows may end before."""
    try:
        times, memory = seeded(measure)
    except Exception as error:
        if not bench.written.names:
            raise
        log_internal_error(error, "timing a program that writes")
        text = f"Not timed: it fails after more calls than were compared: {error_text(error)}."
        return msgspec.structs.replace(row, sentence=f"{row.sentence} {text}".strip())
    return msgspec.structs.replace(row, times=times, memory=memory)


def _refuse(row: RunRow, reason: str) -> RunRow:
    """The row of a call that the program does not accept: compiled code does not look at it."""
    text = f"Not called, because the program rejects these inputs: {reason}."
    return msgspec.structs.replace(row, outcome="refused", sentence=text)


def _first_calls(ready: Ready, bench: Bench, job: Job) -> tuple[list[SeenCall], float]:
    """Calls in a row, several where the program writes; the seconds of the first."""
    seconds: list[float] = []

    def call() -> Any:
        raw, took = time_call(ready.call, bench.device)
        seconds.append(took)
        return ready.result(raw)

    return bench.calls_in_a_row(call, ready.buffer, job), seconds[0]


def _measure(ready: Ready, bench: Bench, first: float, prepare: float) -> tuple[RunTimes, int]:
    """Memory first: timing leaves caches warm that no first user has."""
    with gpu_unchecked():
        memory = peak_memory(ready.call, bench.device)
        times = warm_times(ready.call, bench.device, first, prepare)
        if times.median > _FAR_SLOWER * bench.quickest:
            times = quieter(times, warm_times(ready.call, bench.device, first, prepare))
    bench.quickest = min(bench.quickest, times.median)
    return times, memory


def quieter(one: RunTimes, other: RunTimes) -> RunTimes:
    """Of two times of the same calls the less disturbed; how far they differ is their spread."""
    best = min(one, other, key=lambda each: each.median)
    apart = abs(one.median - other.median)
    return msgspec.structs.replace(best, spread=max(best.spread, apart))


def _give_back(device: str) -> None:
    """After a failure, the allocator's free memory is returned to the device."""
    if device.startswith("cuda"):
        torch.cuda.empty_cache()
