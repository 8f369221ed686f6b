"""What tests run is not timed for long: they ask whether there is a time, not which."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session", autouse=True)
def measured_briefly() -> Iterator[None]:
    """Half a second for each row of a table of runs is most of what many tests would take.

    So is looking for garbage among all objects of all tests before each: here, among new ones.
    AOTInductor would compile headers for 16 seconds, to save two in each of the few compilations.
    """
    from torch._inductor import config

    from export_engine.run import measure, op_profile

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "_SECONDS", 0.01)
        patch.setattr(measure, "gc", SimpleNamespace(collect=lambda: gc.collect(0)))
        patch.setattr(op_profile, "_SECONDS", 0.0)
        patch.setattr(config.aot_inductor, "precompile_headers", False)
        yield
