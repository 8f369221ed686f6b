"""Failed attempt → Fixes. One module per kind of fix; each offers what its diagnosis allows.

Some kinds export to find out what helps; each such export is reported as a step of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from export_engine.attempt import Failed, Fix
from export_engine.diagnose import diagnose
from export_engine.fixes import (
    containers,
    export_options,
    fake_kernels,
    other_example,
    other_mode,
    shapes,
    specs,
)
from export_engine.fixes.code import checks_and_numpy, data_dependent
from export_engine.process import answered, raise_if_interrupted, sandbox
from export_engine.progress import Report

__all__ = ["explain", "find_fixes"]

Provider = Callable[[Failed, Report | None], Iterable[Fix]]
"""Fixes for an attempt that has its diagnosis. Raises nothing but KeyboardInterrupt."""

PROVIDERS: tuple[Provider, ...] = (
    specs.offered,
    shapes.offered,
    other_example.offered,
    containers.offered,
    fake_kernels.offered,
    data_dependent.offered,
    checks_and_numpy.offered,
)
"""Asked for every failure."""
LAST_RESORTS: tuple[Provider, ...] = (other_mode.offered, export_options.offered)
"""Each costs an export or two: asked where no lossless fix is known to lead to a program."""


def find_fixes(attempt: Failed, progress: Report | None = None) -> tuple[Fix, ...]:
    """What may help, lossless fixes first.

    Args:
        attempt: a failure, with its diagnosis.
        progress: called while fixes are tried.

    Raises:
        KeyboardInterrupt: the user interrupted.
    """
    found: list[Fix] = []
    with sandbox():
        for provider in PROVIDERS:
            found.extend(_asked(provider, attempt, progress))
        for provider in LAST_RESORTS:
            if not any(fix.leads_to is not None and not fix.lossy for fix in found):
                found.extend(_asked(provider, attempt, progress))
    return tuple(sorted(found, key=lambda fix: fix.lossy))


def _asked(provider: Provider, attempt: Failed, progress: Report | None) -> list[Fix]:
    """A provider's fixes; none from one that stumbles, since the others may know something."""
    raise_if_interrupted()
    try:
        return list(provider(attempt, progress))
    except Exception:  # noqa: BLE001 - whatever it is, the diagnosis and other fixes stand
        return []


def explain(attempt: Failed, progress: Report | None = None) -> Failed:
    """The attempt with its diagnosis and its fixes.

    Interrupted while looking for fixes, it gives the diagnosis alone.
    """
    explained = replace(attempt, diagnosis=diagnose(attempt))
    try:
        return replace(explained, fixes=find_fixes(explained, progress))
    except KeyboardInterrupt:
        answered()
        return explained
