"""Setups: registrations that a call needs to export: a container's class, a fake kernel.

torch keeps them for the whole process. A capture undoes its own; a successful one keeps a
container's, since its program cannot be called without. Code that traces a program again, such as
decomposing, installs the setups again.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Protocol

from export_engine.process import undone


class Setup(Protocol):
    """Something to register with torch. Compares equal to another that registers the same."""

    @property
    def title(self) -> str:
        """Its effect, as an imperative: `Register Cache as a container`."""
        ...

    @property
    def stays(self) -> bool:
        """Whether the program cannot be called without it."""
        ...

    @property
    def classes(self) -> tuple[type, ...]:
        """The classes that it registers."""
        ...

    def statements(self, reference: Callable[[type], str]) -> list[str]:
        """The same in Python with plain torch.

        Args:
            reference: gives the expression of a class.

        Raises:
            ValueError: it has no text.
        """
        ...

    def install(self) -> Callable[[], None]:
        """Registers it unless already registered; returns the undo function."""
        ...


@undone
def install_setups(setups: Sequence[Setup]) -> Iterator[Callable[[], None]]:
    """Installs all; yields a function that keeps those that stay. The others are undone."""
    undo: list[tuple[Setup, Callable[[], None]]] = []
    kept = False

    def keep() -> None:
        nonlocal kept
        kept = True

    try:
        undo.extend((setup, setup.install()) for setup in setups)
        yield keep
    finally:
        for setup, take_back in reversed(undo):
            if not (kept and setup.stays):
                take_back()
            elif setup not in _standing:
                _standing.append(setup)


def list_standing_setups(classes: Container[object]) -> list[Setup]:
    """The setups of some classes that stay in this process, in the order of their captures."""
    return [setup for setup in _standing if any(cls in classes for cls in setup.classes)]


_standing: list[Setup] = []
