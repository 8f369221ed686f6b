"""How far a long piece of work is, for whoever waits for it."""

from __future__ import annotations

from typing import NamedTuple


class Progress(NamedTuple):
    """How far tracing, or a search for fixes, is."""

    done: int
    """Modules entered so far, each counted once; or steps of a search."""
    total: int
    """Modules that a call can enter; or steps at most. 0: not known."""
    label: str
    """Path of the module being entered, empty for the root; or what is being tried."""
    what: str = "module"
    """What is counted: `module`, `op`, `fix` or `guarantee`."""
