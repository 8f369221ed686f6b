"""Setups: registrations that a call needs to export: a container's class, a fake kernel.

torch keeps them for the whole process. A failed capture undoes its own; a successful one keeps
a container's, since its program cannot be called without. A fake kernel of an op that was made with
`torch.library.Library` ends with the library that registered it: what traces a program again, as
decomposing does, installs the setups again.
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
        """Registers it unless already registered; returns the undo function."""
        ...


@undone
def installed(setups: Sequence[Setup]) -> Iterator[Callable[[], None]]:
    """Installs all; yields a function that keeps them. Without that call they are undone."""
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
