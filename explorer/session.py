"""The Session: the chain of attempts behind one view, each described and encoded once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from export_engine import Attempt, Record


@dataclass(frozen=True)
class Entry:
    """An attempt with its Record."""

    label: str
    """What tells it from the others: `strict`, `non-strict`."""
    attempt: Attempt

    @cached_property
    def record(self) -> Record:
        """The attempt, described. A RuntimeError here is a bug, and says so."""
        from export_engine import describe

        try:
            return describe(self.attempt)
        except Exception as error:
            raise RuntimeError(
                "torch.export is done, but Export Explorer cannot describe what it made. "
                "That is a bug of Export Explorer's; please report it with the error above."
            ) from error

    @cached_property
    def encoded(self) -> bytes:
        """The Record as bytes for the page."""
        from export_engine import encode

        return encode(self.record)

    def head(self) -> dict[str, str]:
        """What a view knows of the attempt before its Record arrives."""
        record = self.record
        return {"label": self.label, "outcome": record.outcome, "verdict": record.verdict}


class Session:
    """Attempts in the order they were made. Never empty; an entry is never changed."""

    def __init__(self, entries: list[Entry]) -> None:
        """Make one.

        Args:
            entries: the attempts to begin with.
        """
        self._entries = list(entries)
        exported = [n for n, each in enumerate(entries) if each.record.outcome == "exported"]
        self.current = exported[0] if exported else 0
        """The attempt to show: the first that exported, else the first."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All attempts, the oldest first."""
        return tuple(self._entries)

    @property
    def entry(self) -> Entry:
        """The current attempt."""
        return self._entries[self.current]
