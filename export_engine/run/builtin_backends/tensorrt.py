"""Torch-TensorRT.

Written against its documentation; our tests do not run it, as they have no GPU.
"""

from __future__ import annotations

from export_engine.run.backend import Job, Ready
from export_engine.run.builtin_backends.needs import on_cuda, packages


class TensorRT:
    """`torch_tensorrt.dynamo.compile` on the exported program."""

    name = "tensorrt"
    title = "Torch-TensorRT"

    def missing(self, device: str) -> str | None:
        """An NVIDIA GPU and the package, whose every version wants one version of torch."""
        return on_cuda(device, self.title) or packages({"torch_tensorrt": "torch-tensorrt"})

    def prepare(self, job: Job) -> Ready:
        """Compiles what TensorRT has; torch runs the rest."""
        import torch_tensorrt

        compiled = torch_tensorrt.dynamo.compile(
            job.program, arg_inputs=job.args, kwarg_inputs=dict(job.kwargs)
        )
        file = job.folder / "model.ep"
        torch_tensorrt.save(compiled, str(file), arg_inputs=list(job.args))
        return Ready(call=lambda: compiled(*job.args, **job.kwargs), saved=file)
