"""torch.compile with its default backend."""

from __future__ import annotations

from typing import Any

import torch

from export_engine.capture import model_kept
from export_engine.run.backend import Job, Ready
from export_engine.run.builtin_backends.needs import compiler
from export_engine.run.repeated_calls import attribute_reader
from export_engine.torch_internals import callable_module, count_cache_hits


class Inductor:
    """`torch.compile(program.module())`.

    The program's module is compiled, not the user's: torch.compile caches by code object, so its
    cache goes away with that module.
    """

    name = "inductor"
    title = "torch.compile inductor"
    draws_as_eager = True

    def missing(self, device: str) -> str | None:
        """A compiler."""
        return compiler(device)

    def prepare(self, job: Job) -> Ready:
        """Compiles by a first call, for the sizes of that call."""
        module = callable_module(job.program)
        options: dict[str, Any] | None = {"fallback_random": True} if job.eager_random else None
        compiled = torch.compile(module, options=options)
        before = count_cache_hits()
        with model_kept(module):
            compiled(*job.args, **job.kwargs)
        cached = count_cache_hits() > before
        note = "The compiled code came from torch's cache." if cached else ""
        return Ready(
            call=lambda: compiled(*job.args, **job.kwargs),
            note=note,
            buffer=attribute_reader(module),
        )
