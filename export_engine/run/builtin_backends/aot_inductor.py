"""AOTInductor: compiled ahead into a package that needs no Python, and loaded back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from export_engine.run.backend import Job, Ready
from export_engine.run.builtin_backends.needs import compiler
from export_engine.torch_internals import (
    compiled_package,
    loaded_package,
    missing_packages,
)


class AOTInductor:
    """A `.pt2` package with compiled code, run by torch's loader."""

    name = "aoti"
    title = "AOTInductor"

    def missing(self, device: str) -> str | None:
        """A compiler, and torch's own functions."""
        return missing_packages() or compiler(device)

    def prepare(self, job: Job) -> Ready:
        """Compiles for every size of the program's contract, saves, and loads."""
        file = compiled_package(job.program, job.folder / "model.pt2")
        package = loaded_package(file)
        return Ready(call=lambda: package(*job.args, **job.kwargs), saved=file)

    def load(self, job: Job) -> Callable[..., Any]:
        """Compiles code alone: the weights stay the program's, which others of its set share."""
        file = compiled_package(job.program, job.folder / "model.pt2", weights=False)
        return loaded_package(file, {**job.program.state_dict, **job.program.constants})
