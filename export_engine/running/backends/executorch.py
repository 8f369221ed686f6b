"""ExecuTorch: lowered to a `.pte` for phones and small devices, run by its runtime for Python."""

from __future__ import annotations

from typing import Any

from export_engine.quiet import descriptors_quiet
from export_engine.running.backend import Job, Ready
from export_engine.running.backends.needs import on_cpu, packages
from export_engine.torch_internals import copied_program, flat_inputs


class ExecuTorch:
    """A `.pte` whose ops go to XNNPACK where it has them, else to ExecuTorch's portable kernels."""

    name = "executorch"
    title = "ExecuTorch (XNNPACK)"

    def missing(self, device: str) -> str | None:
        """The package."""
        return packages({"executorch.exir": "executorch"}) or on_cpu(device, self.title)

    def prepare(self, job: Job) -> Ready:
        """Lowers, saves, and loads."""
        with descriptors_quiet():  # its libraries write past Python
            from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
                XnnpackPartitioner,
            )
            from executorch.exir import to_edge_transform_and_lower
            from executorch.runtime import Runtime

            lowered = to_edge_transform_and_lower(
                copied_program(job.program), partitioner=[XnnpackPartitioner()]
            ).to_executorch()
            file = job.folder / "model.pte"
            with file.open("wb") as opened:
                lowered.write_to_file(opened)
            method = Runtime.get().load_program(file).load_method("forward")
        values: list[Any] = list(flat_inputs(job.program, job.args, dict(job.kwargs)).values())
        return Ready(
            call=lambda: method.execute(values),
            # What it gives lives in its own memory, which the next call writes to.
            result=lambda raw: [each.clone() if hasattr(each, "clone") else each for each in raw],
            saved=file,
        )
