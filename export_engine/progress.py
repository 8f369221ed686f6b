"""Progress of long-running work."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """Progress of tracing, or of a search for fixes."""

    done: int
    """Modules entered so far, each counted once; or steps of a search."""
    total: int
    """Modules that a call can enter; or steps at most. 0: not known."""
    label: str
    """Path of the module being entered, empty for the root; or what is being tried."""
    what: str = "module"
    """What is counted: `module`, `op`, `fix` or `guarantee`. For known facts: `failure`,
    whose label is the diagnosis, and `found`, whose label is a fix."""


Report = Callable[[Progress], None]
"""Called during long work, in its thread: keep it short."""
