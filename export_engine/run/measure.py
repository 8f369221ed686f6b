"""How long a call takes, and how much memory."""

from __future__ import annotations

import ctypes
import gc
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils.benchmark import Timer

from export_engine.record import RunTimes
from export_engine.run.free_memory import free_memory
from export_engine.run.torch_devices import synchronize

_SECONDS = 0.4
"""Seconds for which warm calls are timed."""
_WARM_UP = 0.2
"""Seconds of calls before the first that is timed, on a device of its own clocks."""
_SHORT = 50e-6
"""Seconds.

Shorter calls are timed in blocks, to reduce the clock's overhead; longer ones individually, so that
the median ignores interruptions.
"""
_LONG = 20.0
"""Seconds. A call that takes longer is not called again to be timed."""
_MOST_CALLS = 1000


def time_call(call: Callable[[], Any], device: str) -> tuple[Any, float]:
    """The result of a call and its seconds, device work included."""
    synchronize(device)
    started = time.perf_counter()
    result = call()
    synchronize(device)
    return result, time.perf_counter() - started


def warm_times(call: Callable[[], Any], device: str, first: float, prepare: float) -> RunTimes:
    """Times warm calls.

    Args:
        call: what to time; it has been called once.
        device: where it runs.
        first: seconds of that first call.
        prepare: seconds from the start to that call.
    """
    if first > _LONG:
        return RunTimes(first, 0.0, 1, first, prepare)
    if device == "cpu" and min(_by_clock(call, device, 3)) < _SHORT:
        timer = Timer(
            "call()",
            globals={"call": call},
            num_threads=torch.get_num_threads(),
            timer=time.perf_counter,  # torch's own would start CUDA where there is a GPU
        )
        result = timer.blocked_autorange(min_run_time=_SECONDS)
        calls = len(result.times) * result.number_per_run
        return RunTimes(result.median, result.iqr, calls, first, prepare)
    if device != "cpu":
        _warm_up(call, device)
    seconds = _by_clock(call, device)
    low, _, high = statistics.quantiles(seconds, n=4)
    return RunTimes(statistics.median(seconds), high - low, len(seconds), first, prepare)


def _warm_up(call: Callable[[], Any], device: str) -> None:
    """Calls until the clocks of a device that idled are up.

    Calls are timed by this process's clock then, up to where the device is done: a GPU's own clock
    leaves out how long a call waits where other processes have the GPU.
    """
    started = time.perf_counter()
    while time.perf_counter() - started < _WARM_UP:
        time_call(call, device)


def _by_clock(call: Callable[[], Any], device: str, most: int = _MOST_CALLS) -> list[float]:
    """Seconds of each call."""
    seconds: list[float] = []
    while len(seconds) < most and (len(seconds) < 4 or sum(seconds) < _SECONDS):
        seconds.append(time_call(call, device)[1])
    return seconds


def peak_memory(call: Callable[[], Any], device: str) -> int:
    """Peak bytes of a call above what is held before it; -1 if unknown.

    On a CPU, pages of this process by Linux's own high-water mark; on an NVIDIA GPU, what torch's
    allocator hands out.
    """
    gc.collect()
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        time_call(call, device)
        return int(torch.cuda.max_memory_allocated(device)) - before
    return _peak_pages(call) if device == "cpu" else -1


def _peak_pages(call: Callable[[], Any]) -> int:
    try:
        _trim()
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the last peak
        before = _status("VmRSS")
        call()
        return max(_status("VmHWM") - before, 0)
    except (OSError, LookupError):  # not Linux, or not permitted
        return -1


def _trim() -> None:
    """Returns freed memory to the system, so that a new allocation is measured."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _status(name: str) -> int:
    """Bytes of this process, as Linux reports them: `VmRSS:   1234 kB`."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def check_memory(count: int) -> None:
    """Raises MemoryError if fewer bytes are free than needed, before the process is killed.

    Raises:
        MemoryError: they do not fit.
    """
    left = free_memory()
    if count > left:
        raise MemoryError(
            f"At least {count:,} bytes are needed, but {left:,} are free. Try smaller sizes."
        )


def bytes_of(saved: Path) -> int:
    """Size of a file, or of all files in a folder."""
    if saved.is_file():
        return saved.stat().st_size
    return sum(path.stat().st_size for path in saved.rglob("*") if path.is_file())
