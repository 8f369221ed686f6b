"""Times kernels: a profiler's events of warm calls, matched in order with the calls in the code."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import msgspec
import torch

from export_engine.capture import descriptors_quiet
from export_engine.process import gpu_unchecked, raise_if_interrupted
from export_engine.record import Kernel, StageTimes
from export_engine.run import synchronize
from export_engine.stages.kernel_calls import base_name, is_extern, shows_kernel

_SECONDS = 1.0
"""For the calls without a profiler, and as much again with it."""
_LEAST, _MOST = 5, 50
_EVENTS = 40_000
"""Events that are read, at most: torch makes objects of them, slowly."""
_AGAIN = 3
"""How often calls are profiled again while something else disturbs them."""
_DISTURBED = 4.0
"""How many times as long a call may take under the profiler."""
_PER_EVENT = 50.0
"""Microseconds that a profiler may take for an event, with those inside of it."""
PROFILER_ADDS = (
    " Profiling adds time to each kernel, so their sum is more than a call without the profiler."
)
_CALL = "export_explorer: call"
_COMPILED = "## Call CompiledFxGraph"


class Span(NamedTuple):
    """An event of one call, in microseconds."""

    name: str
    took: float


class Profiled(NamedTuple):
    """A call under the profiler."""

    took: float
    """Microseconds, of the whole call."""
    spans: list[Span]


class Timed(NamedTuple):
    """The kernels with their times."""

    kernels: list[Kernel]
    times: StageTimes


def time_kernels(
    kernels: Sequence[Kernel],
    call: Callable[[], Any],
    device: str,
    progress: Callable[[int, int], None],
    record_kernels: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Timed:
    """Times a compiled program and each of its kernels.

    Args:
        kernels: in the order of their calls.
        call: runs the program once; it is warm.
        device: where it runs.
        progress: called with the calls that are done, and with how many there are.
        record_kernels: a context in which each kernel has an event of the profiler.

    Raises:
        KeyboardInterrupt: interrupted.
    """
    with gpu_unchecked():
        whole = _call_times(call, device, progress)
        wanted = len(whole)
        with record_kernels():
            calls = _profile_enough(call, device, whole, lambda: progress(wanted, 2 * wanted))
    quiet = _quicker_half(calls)
    matched = [
        match_events(
            [kernel.name for kernel in kernels],
            profiled.spans,
            [kernel.calls for kernel in kernels],
        )
        for profiled in quiet
    ]
    rows = [
        _with_time(kernel, [item.taken[number] for item in matched if number in item.taken])
        for number, kernel in enumerate(kernels)
    ]
    return Timed(rows, _summary(rows, whole, len(calls), quiet, matched, device))


def _profile_enough(
    call: Callable[[], Any], device: str, whole: Sequence[float], began: Callable[[], None]
) -> list[Profiled]:
    """As many profiled calls as others, and again while other work disturbs them."""
    calls = _profile(call, device, _LEAST)
    events = sum(len(profiled.spans) for profiled in calls) // len(calls) or 1
    more = min(len(whole), _EVENTS // events) - len(calls)
    began()
    if more > 0:
        calls += _profile(call, device, more)
    for _ in range(_AGAIN):
        if not _is_disturbed(_quicker_half(calls), whole):
            break
        calls += _profile(call, device, max(more, _LEAST))
    return calls


def _call_times(
    call: Callable[[], Any], device: str, progress: Callable[[int, int], None]
) -> list[float]:
    """Microseconds of warm calls, by the clock."""
    numbers: list[float] = []
    started = time.perf_counter()
    call()
    synchronize(device)
    while len(numbers) < _LEAST or (
        len(numbers) < _MOST and time.perf_counter() - started < _SECONDS
    ):
        raise_if_interrupted()
        before = time.perf_counter()
        call()
        synchronize(device)
        numbers.append((time.perf_counter() - before) * 1e6)
        progress(len(numbers), 2 * _MOST)
    return numbers


def _profile(call: Callable[[], Any], device: str, count: int) -> list[Profiled]:
    """Calls with their events in order: of each operator or kernel the outermost."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    on_gpu = device.startswith("cuda")
    if on_gpu:
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with descriptors_quiet(), torch.profiler.profile(activities=activities) as profiler:
        for _ in range(count):
            raise_if_interrupted()
            with torch.profiler.record_function(_CALL):
                call()
                synchronize(device)
    events = profiler.events()
    return [
        Profiled(float(event.time_range.elapsed_us()), _spans(event, on_gpu))
        for event in events or ()
        if event.name == _CALL
    ]


def _is_disturbed(quiet: Sequence[Profiled], whole: Sequence[float]) -> bool:
    """Whether profiled calls took far longer than others, by more than a profiler takes."""
    spans = statistics.median(len(profiled.spans) for profiled in quiet)
    took = statistics.median(profiled.took for profiled in quiet)
    return took > _DISTURBED * min(whole) + spans * _PER_EVENT


def _quicker_half(calls: Sequence[Profiled]) -> list[Profiled]:
    """The calls that other processes disturbed least."""
    return sorted(calls, key=lambda each: each.took)[: max(len(calls) // 2, 1)]


def _spans(event: Any, on_gpu: bool) -> list[Span]:
    """The outermost events inside a call, below those of torch.compile itself."""
    graphs = _find_compiled(event)
    inside = [child for graph in graphs for child in graph.cpu_children] or event.cpu_children
    return [
        Span(
            child.name,
            float(child.device_time_total if on_gpu else child.time_range.elapsed_us()),
        )
        for child in inside
    ]


def _find_compiled(event: Any) -> list[Any]:
    """The events of compiled graphs, in order; none if there is none, as in a package."""
    graphs = []
    waiting = list(reversed(event.cpu_children))
    while waiting:
        result = waiting.pop()
        if result.name.startswith(_COMPILED):
            graphs.append(result)
        elif not result.name.startswith("aten::"):
            waiting += reversed(result.cpu_children)
    return graphs


class Matched(NamedTuple):
    """The events of one call."""

    taken: dict[int, float]
    """Microseconds, per number of a kernel."""
    others: list[Span]
    """Those that belong to no kernel."""


def match_events(
    kernels: Sequence[str], spans: Sequence[Span], calls: Sequence[str] = ()
) -> Matched:
    """Which event is of which kernel call: both are in the order of the calls.

    A kernel without an event of its name, such as a helper that calls two operators, gets what ran
    between its neighbours, if it is the only one there. A generated kernel in a loop of the program
    has all its events.

    Args:
        kernels: names with the number of the call.
        spans: of one call.
        calls: per kernel, the op that it calls.
    """
    called = calls or [""] * len(kernels)
    at: dict[int, int] = {}
    next_one = 0
    for number, kernel in enumerate(kernels):
        place = next(
            (
                n
                for n in range(next_one, len(spans))
                if shows_kernel(spans[n].name, kernel, called[number])
            ),
            None,
        )
        if place is not None:
            at[number], next_one = place, place + 1
    taken = {number: spans[place].took for number, place in at.items()}
    used = set(at.values())
    for number, kernel in enumerate(kernels):
        if number in at or not is_extern(kernel):  # generated code in a branch may not have run
            continue
        before, after = at.get(number - 1, -1), at.get(number + 1, len(spans))
        alone = (number == 0 or number - 1 in at) and (
            number == len(kernels) - 1 or number + 1 in at
        )
        between = [n for n in range(before + 1, after) if n not in used] if alone else []
        if between:
            taken[number] = sum(spans[n].took for n in between)
            used.update(between)
    last = {base_name(kernel): n for n, kernel in enumerate(kernels) if not is_extern(kernel)}
    for place, span in enumerate(spans):
        again = next((n for base, n in last.items() if shows_kernel(span.name, base)), None)
        if place not in used and again in at:
            taken[again] += span.took
            used.add(place)
    return Matched(taken, [span for n, span in enumerate(spans) if n not in used])


def _with_time(kernel: Kernel, times: Sequence[float]) -> Kernel:
    if not times:
        return kernel
    low, high = _quartiles(times)
    return msgspec.structs.replace(
        kernel, microseconds=round(statistics.median(times), 3), spread=round(high - low, 3)
    )


def _quartiles(values: Sequence[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4)
    return low, high


def _summary(
    kernels: Sequence[Kernel],
    whole: Sequence[float],
    calls: int,
    quiet: Sequence[Profiled],
    matched: Sequence[Matched],
    device: str,
) -> StageTimes:
    timed = [kernel for kernel in kernels if kernel.microseconds >= 0]
    total = sum(kernel.microseconds for kernel in timed)
    owned = sum(kernel.microseconds for kernel in timed if kernel.lines)
    quick = sorted(whole)[: max(len(whole) // 2, 1)]
    low, high = _quartiles(whole)
    clock = "the GPU's own clock" if device.startswith("cuda") else "torch's profiler"
    missed = len(kernels) - len(timed)
    noisy = " Other work disturbed the timing. Repeat it on an idle machine."
    others = [sum(span.took for span in item.others) for item in matched]
    whole_call, between = statistics.median(quick), statistics.median(others)
    is_more = total + between > whole_call
    return StageTimes(
        method=f"Kernels by {clock}; medians of the faster half of {calls} warm calls"
        + (f"; {missed} of {len(kernels)} kernels have no event." if missed else ".")
        + (PROFILER_ADDS if is_more else "")
        + (noisy if _is_disturbed(quiet, whole) else ""),
        calls=calls,
        call=round(whole_call, 3),
        spread=round(high - low, 3),
        kernels=round(total, 3),
        overhead=round(max(whole_call - total - between, 0.0), 3),
        owned=round(owned / total, 4) if total else 0.0,
        between=round(between, 3),
        other=_others(matched),
    )


def _others(matched: Sequence[Matched]) -> str:
    """`aten::view ×2`: what ran between the kernels of a call."""
    spans = matched[-1].others if matched else []
    if not spans:
        return ""
    names = dict.fromkeys(span.name for span in spans)
    counts = {name: sum(span.name == name for span in spans) for name in names}
    return ", ".join(f"{name} ×{count}" for name, count in list(counts.items())[:6])
