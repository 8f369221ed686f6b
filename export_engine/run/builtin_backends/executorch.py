"""ExecuTorch: lowered to a `.pte` for phones and small devices, run by its runtime for Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import torch

from export_engine.capture import descriptors_quiet
from export_engine.defects import log_internal_error
from export_engine.run.backend import Job, Ready, RuntimeNode
from export_engine.run.builtin_backends.eager_layouts import replace_views
from export_engine.run.builtin_backends.executorch_trace import (
    find_traced_values,
    read_instructions,
)
from export_engine.run.builtin_backends.needs import on_cpu, packages
from export_engine.torch_internals import as_result, flat_leaves, int_bound


class ExecuTorch:
    """A `.pte` whose ops go to XNNPACK where it has them, else to ExecuTorch's portable kernels."""

    name = "executorch"
    title = "ExecuTorch (XNNPACK)"

    def missing(self, device: str) -> str | None:
        """The package."""
        return packages({"executorch.exir": "executorch"}) or on_cpu(device, self.title)

    def prepare(self, job: Job) -> Ready:
        """Lowers, saves, and loads."""
        method, file, note = _method(job)
        values = flat_leaves(job.program, job.args, dict(job.kwargs))
        call = _Call(method, job.program)
        count = len(job.program.graph_signature.user_outputs)

        def result(raw: Sequence[Any]) -> list[Any]:
            return _copy_outputs(raw)[
                max(len(raw) - count, 0) :
            ]  # inputs that it writes come before them

        return Ready(call=lambda: call(values), result=result, saved=file, note=note)

    def load(self, job: Job) -> Callable[..., Any]:
        """Lowers and loads."""
        call = _Call(_method(job)[0], job.program)

        def call_program(*args: Any, **kwargs: Any) -> Any:
            raw = call(flat_leaves(job.program, args, kwargs))
            return as_result(job.program, _copy_outputs(raw))

        return call_program

    def nodes(self, job: Job, calls: int) -> list[RuntimeNode]:
        """The instructions of the method, timed by its runtime's event tracer."""
        missing = self.without_values()
        if missing:
            raise ValueError(missing)
        with descriptors_quiet():
            return read_instructions(_lower(job)[0], job, calls)

    def without_values(self) -> str | None:
        """The tracer of its runtime, and what reads its traces."""
        return packages({"executorch.devtools": "executorch", "pandas": "pandas"})

    def values(self, job: Job, space: int) -> dict[str, torch.Tensor]:
        """Each op of XNNPACK is lowered by itself, so that its value leaves the library."""
        with descriptors_quiet():
            lowered, _ = _lower(job, per_op_mode=True)
            return find_traced_values(lowered, job, space)


class _Call:
    """Runs a method, and says what a number of its runtime's errors mostly means."""

    def __init__(self, method: Any, program: torch.export.ExportedProgram) -> None:
        self._method = method
        ranges = program.range_constraints.values()
        self._is_bounded = all(int_bound(value_range.upper) is not None for value_range in ranges)

    def __call__(self, values: Sequence[Any]) -> Any:
        try:
            return self._method.execute(values)
        except RuntimeError as error:
            if self._is_bounded:
                raise
            raise RuntimeError(  # its own text is a number
                "memory is planned for the example's sizes, because a size has no upper bound. "
                f"Add one, such as batch[..64] ({error})"
            ) from None


def _copy_outputs(raw: Sequence[Any]) -> list[Any]:
    """Outputs as copies: they live in a buffer that the next call overwrites."""
    return [value.clone() if hasattr(value, "clone") else value for value in raw]


def _method(job: Job) -> tuple[Any, Path, str]:
    """The lowered program, loaded; its file; and how it was lowered."""
    with descriptors_quiet():  # its C libraries write directly to stdout
        from executorch.runtime import Runtime

        lowered, note = _lower(job)
        file = job.folder / "model.pte"
        with file.open("wb") as opened:
            lowered.write_to_file(opened)
        return Runtime.get().load_program(file).load_method("forward"), file, note


def _lower(job: Job, **options: Any) -> tuple[Any, str]:
    """The lowered program, and how it was lowered.

    Args:
        job: what to lower.
        options: of the part that goes to XNNPACK.
    """
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    program, note = replace_views(job.program), ""
    entries = edge_options(program)
    try:
        parts = [XnnpackPartitioner(**options)]
        edge = to_edge_transform_and_lower(program, partitioner=parts, **entries)
    except Exception as error:  # noqa: BLE001 - XNNPACK takes no linear layer in a branch, say
        log_internal_error(error, "lowering for XNNPACK")
        edge = to_edge_transform_and_lower(replace_views(job.program), **entries)
        note = "Portable kernels only: XNNPACK cannot take parts of this program."
    return edge.to_executorch(), note


def edge_options(program: torch.export.ExportedProgram) -> dict[str, Any]:
    """ExecuTorch's options, without its check of the graph where that is too strict.

    It takes no function of Python, and so no `torch.sym_min` of sizes, which checks of sizes are
    made of; the runtime has it.
    """
    from executorch.exir import EdgeCompileConfig

    takes_sizes = any(
        isinstance(node.target, FunctionType) and node.target.__module__ == "torch"
        for module in program.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
        for node in module.graph.nodes
    )
    return {"compile_config": EdgeCompileConfig(_check_ir_validity=False)} if takes_sizes else {}
