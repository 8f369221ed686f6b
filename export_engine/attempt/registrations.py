"""Setups: what torch has to be told before a call exports: a container's class, a fake kernel.

torch keeps such things for the whole process. A capture that fails takes back what it installed;
one that succeeds leaves it, since its program cannot be called without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from export_engine.process import undone


class Setup(Protocol):
    """Something to register with torch. Compares equal to another that registers the same."""

    @property
    def title(self) -> str:
        """What it does, as an order: `Register Cache as a container`."""
        ...

    def install(self) -> Callable[[], None]:
        """Registers it unless it is already, and returns what takes that back."""
        ...


@undone
def installed(setups: Sequence[Setup]) -> Iterator[Callable[[], None]]:
    """Installs all; gives what keeps them. Whatever ends without keeping takes them back."""
    undo: list[Callable[[], None]] = []
    kept = False

    def keep() -> None:
        nonlocal kept
        kept = True

    try:
        undo.extend(setup.install() for setup in setups)
        yield keep
    finally:
        if not kept:
            for each in reversed(undo):
                each()
