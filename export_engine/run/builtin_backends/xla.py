"""Torch-XLA. Written against its documentation; not run by our tests: no wheel for this torch."""

from __future__ import annotations

from typing import Any

import torch

from export_engine.run.backend import Job, Ready
from export_engine.run.builtin_backends.needs import on_cpu, packages
from export_engine.torch_internals import flat_inputs, pytree


class Xla:
    """The program as StableHLO, run by XLA."""

    name = "xla"
    title = "Torch-XLA (StableHLO)"

    def missing(self, device: str) -> str | None:
        """The package, whose every version wants one version of torch."""
        return packages({"torch_xla": "torch_xla"}) or on_cpu(device, self.title)

    def prepare(self, job: Job) -> Ready:
        """Lowers to StableHLO, saves, and binds the inputs to XLA's device."""
        from torch_xla import stablehlo

        lowered = stablehlo.exported_program_to_stablehlo(job.program)
        lowered.save(str(job.folder))
        flat = flat_inputs(job.program, job.args, dict(job.kwargs)).values()
        values = pytree.tree_map_only(torch.Tensor, lambda value: value.to("xla"), list(flat))

        def to_cpu(raw: Any) -> Any:
            return pytree.tree_map_only(torch.Tensor, lambda value: value.cpu(), raw)

        return Ready(
            # Without fetching the result, lazily run kernels would not be part of the call.
            call=lambda: to_cpu(lowered(*values)),
            saved=job.folder,
        )
