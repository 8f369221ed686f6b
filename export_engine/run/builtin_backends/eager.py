"""The model itself, as the user calls it."""

from __future__ import annotations

from export_engine.attempt import NO_MODEL, as_module
from export_engine.run.backend import Job, Ready
from export_engine.run.repeated_calls import attribute_reader


class Eager:
    """The eager model, which all others are compared with."""

    name = "eager"
    title = "eager module"

    def missing(self, device: str) -> str | None:
        """Runs wherever torch does."""
        return None

    def prepare(self, job: Job) -> Ready:
        """Nothing to compile.

        Raises:
            ValueError: the program was opened without its model.
        """
        model = job.model
        if model is None:
            raise ValueError(NO_MODEL)
        return Ready(
            call=lambda: model(*job.args, **job.kwargs), buffer=attribute_reader(as_module(model))
        )
