"""AOTInductor: compiled ahead into a package that needs no Python, and loaded back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from export_engine.capture import descriptors_quiet
from export_engine.run.backend import Job, Ready
from export_engine.run.builtin_backends.input_strides import InputStrides
from export_engine.run.builtin_backends.needs import compiler
from export_engine.run.builtin_backends.trial_load import try_load_first
from export_engine.run.op_origins import ops_of
from export_engine.torch_internals import (
    capture_saved,
    compile_package,
    give_own_buffers,
    load_package,
    missing_buffers,
    missing_packages,
    printing_package,
)


class AOTInductor:
    """A `.pt2` package with compiled code, run by torch's loader."""

    name = "aoti"
    title = "AOTInductor"
    draws_as_eager = True

    def missing(self, device: str) -> str | None:
        """A compiler, and torch's own functions."""
        return missing_packages() or compiler(device)

    def prepare(self, job: Job) -> Ready:
        """Compiles for every size of the program's contract, saves, and loads."""
        options = {"fallback_random": True} if job.eager_random else None
        with try_load_first(self.name) as tries:
            file = compile_package(job.program, job.folder / "model.pt2", options=options)
            tries(file)
        package = load_package(file)
        args, kwargs, copied = InputStrides(job.program).given(job.args, job.kwargs)
        note = (
            f"{copied} of the inputs were copied: their strides differ from the example's, which "
            "compiled code assumes without a check."
        )
        return Ready(
            call=lambda: package(*args, **kwargs),
            saved=file,
            note=note if copied else "",
            buffer=give_own_buffers(package, job.program).get,
        )

    def load(self, job: Job) -> Callable[..., Any]:
        """Compiles code alone: the weights stay the program's, which others of its set share."""
        with try_load_first(self.name) as tries:
            file = compile_package(job.program, job.folder / "model.pt2", weights=False)
            tries(file)
        package = load_package(file, {**job.program.state_dict, **job.program.constants})
        strides = InputStrides(job.program)

        def call(*args: Any, **kwargs: Any) -> Any:
            items, named, _ = strides.given(args, kwargs)
            return package(*items, **named)

        return call

    def without_values(self) -> str | None:
        """torch's debug printer."""
        return missing_buffers()

    def values(self, job: Job, space: int) -> dict[str, torch.Tensor]:
        """The buffers of the code as it is fused; what stays inside of a kernel has no buffer."""
        with try_load_first(self.name) as tries:
            file, nodes = printing_package(job.program, job.folder / "model.pt2")
            tries(file)
        package = load_package(file)
        with descriptors_quiet(), capture_saved(job.folder) as saved:
            args, kwargs, _ = InputStrides(job.program).given(job.args, job.kwargs)
            package(*args, **kwargs)
        graph = next((list(node.graph.nodes) for node in nodes.values()), [])
        ops = ops_of(job.program, graph)
        return {
            ops[node.name]: saved[buffer]
            for buffer, node in nodes.items()
            if buffer in saved and node.name in ops
        }
