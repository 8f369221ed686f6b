"""The cost of each op: the program run op by op, with a clock around every kernel."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch

from export_engine.attempt import Exported
from export_engine.process import gpu_unchecked, raise_if_interrupted
from export_engine.progress import Progress
from export_engine.record import Profile, Record
from export_engine.run.check_call import Rejected
from export_engine.run.eager_baseline import Bench
from export_engine.run.run_inputs import Inputs, Sizes, calls_of
from export_engine.run.torch_devices import present_device, synchronize
from export_engine.torch_internals import callable_module, pytree
from export_engine.verify import examine

_SECONDS = 1.0
_LEAST, _MOST = 3, 30
"""Runs: as many as fit into the time, within these."""


def profile(
    exported: Exported,
    record: Record,
    device: str = "cpu",
    inputs: Inputs = None,
    sizes: Sizes = None,
    progress: Callable[[Progress], None] | None = None,
) -> Profile:
    """Profiles a program, op by op.

    Args:
        exported: whose program.
        record: the same, described.
        device: where to run it.
        inputs: what to run it with; the example's by default.
        sizes: values of symbols, for fresh inputs.
        progress: called before each run.

    Raises:
        ProgramFailed: the program raises an error.
        ValueError: there is no such device, input or size, or the program rejects the inputs.
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    device = present_device(device)
    with examine(exported, record, 0) as subject:
        if subject.without_values:
            raise ProgramFailed(subject.without_values)
        call = calls_of(subject, inputs, sizes)[0]
        bench = Bench(subject, call, device)
        if bench.other_inputs:
            raise Rejected(f"The program rejects these inputs: {bench.other_inputs}.")
        runs = _runs(bench, progress)
    names = [node.name for node in exported.program.graph.nodes]
    kept = {name: [run.seconds[name] for run in runs] for name in runs[0].seconds}
    times = [statistics.median(kept[name]) * 1e6 if name in kept else -1.0 for name in names]
    return Profile(
        device=device,
        inputs=call.label,
        runs=len(runs),
        microseconds=[round(number, 2) for number in times],
        bytes=[runs[0].bytes.get(name, -1) for name in names],
        total=round(sum(number for number in times if number >= 0), 2),
    )


def _runs(bench: Bench, progress: Callable[[Progress], None] | None) -> list[_Timed]:
    """Timed runs of the program, after a warm-up."""
    job = bench.job(Path())
    module = callable_module(job.program)
    watchings: list[_Timed] = []
    started = time.perf_counter()
    for number in range(-1, _MOST):
        if number >= _LEAST and time.perf_counter() - started > _SECONDS:
            break
        raise_if_interrupted()
        if progress:
            progress(Progress(number + 1, _MOST + 1, f"run {number + 1}", "profile"))
        watching = _Timed(module, bench.device)
        checked = nullcontext if number < 0 else gpu_unchecked  # a look at indices takes its time
        try:
            bench.run_seeded(lambda: watching.call(job.args, job.kwargs, checked()))  # noqa: B023 - now
        except Exception as error:
            text = str(error).strip().partition("\n")[0]
            raise ProgramFailed(
                f"The program raised {type(error).__name__} at `{watching.at}`: {text}"
            ) from error
        if number >= 0:
            watchings.append(watching)
    return watchings


class ProgramFailed(RuntimeError):
    """The program raised an error. The message can be shown unchanged."""


class _Timed(torch.fx.Interpreter):
    """Runs a program's module and notes what each op takes."""

    def __init__(self, module: Any, device: str) -> None:
        super().__init__(module, garbage_collect_values=True)
        self.seconds: dict[str, float] = {}
        self.bytes: dict[str, int] = {}
        self._device = device
        self._events: list[tuple[str, Any, Any]] = []
        self.at = ""

    def call(
        self, args: tuple[Any, ...], kwargs: Any, around: AbstractContextManager[None]
    ) -> None:
        """One run."""
        with around:
            self.run(*pytree.tree_leaves((args, dict(kwargs))), enable_io_processing=False)
        synchronize(self._device)
        for name, start, end in self._events:
            self.seconds[name] = start.elapsed_time(end) / 1000

    def run_node(self, n: torch.fx.Node) -> Any:
        if n.op == "call_module" and n.target == "_guards_fn":
            return None
        self.at = n.name
        return super().run_node(n)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._device.startswith("cuda"):
            result = self._by_events(target, args, kwargs)
        else:
            started = time.perf_counter()
            result = target(*args, **kwargs)
            synchronize(self._device)
            self.seconds[self.at] = time.perf_counter() - started
        self.bytes[self.at] = _new_bytes(result, (args, kwargs))
        return result

    def _by_events(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        start, end = cuda_event(), cuda_event()
        start.record()
        result = target(*args, **kwargs)
        end.record()
        self._events.append((self.at, start, end))
        return result


def cuda_event() -> Any:
    """A mark on the GPU's own clock."""
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def _new_bytes(result: Any, inputs: Any) -> int:
    """Bytes of an op's outputs, views of its inputs excluded."""
    held = {_storage(leaf) for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)}
    entries: dict[int, int] = {}
    for leaf in pytree.tree_leaves(result):
        if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided:
            where = _storage(leaf)
            if where not in held:
                entries[where] = leaf.untyped_storage().nbytes()
    return sum(entries.values())


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else id(tensor)
