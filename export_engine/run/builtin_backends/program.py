"""The exported program, run op by op as torch runs it."""

from __future__ import annotations

import torch

from export_engine.run.backend import Job, Ready
from export_engine.run.repeated_calls import attribute_reader
from export_engine.torch_internals import callable_module


class Program:
    """`program.module()`, called."""

    name = "program"
    title = "exported program"

    def missing(self, device: str) -> str | None:
        """Runs wherever torch does."""
        return None

    def prepare(self, job: Job) -> Ready:
        """Builds the module."""
        module = self.load(job)
        return Ready(call=lambda: module(*job.args, **job.kwargs), buffer=attribute_reader(module))

    def load(self, job: Job) -> torch.nn.Module:
        """Builds the module."""
        return callable_module(job.program)
