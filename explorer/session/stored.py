"""How an Entry keeps its attempt: in memory, in a file, dropped, or of another session.

Each of them has a Record, and `load` gives the attempt with its program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from export_engine.archive import HeldWeight
    from export_engine.attempt import Attempt, DecompositionTable, Exported, Request
    from export_engine.findings import Finding
    from export_engine.progress import Report
    from export_engine.record import Record


class CannotLoad(RuntimeError):
    """There is no program any more. Its text is a sentence."""


class StoredAttempt(ABC):
    """An attempt as a session keeps it."""

    @property
    def live(self) -> Attempt | None:
        """The attempt, where it is in memory."""
        return None

    @property
    @abstractmethod
    def ok(self) -> bool:
        """Whether it exported."""

    @property
    def request(self) -> Request | None:
        """The exported call; None for a file or an existing program."""
        return None

    @property
    def table(self) -> DecompositionTable | None:
        """The table that decomposed its program, if any."""
        return None

    @property
    def in_file(self) -> bool:
        """Whether its program is in a file."""
        return False

    @property
    def untrusted(self) -> str:
        """The name of the file that has to be trusted before it is loaded; else empty."""
        return ""

    @property
    def is_borrowed(self) -> bool:
        """Whether another session keeps its program."""
        return False

    @property
    def is_slow(self) -> bool:
        """Whether loading exports again."""
        return False

    @abstractmethod
    def load(self, parent: Callable[[], Exported], progress: Report | None = None) -> Attempt:
        """The attempt, with its program if it has one.

        Args:
            parent: gives the attempt that it was decomposed from.
            progress: called while it is made.

        Raises:
            CannotLoad: its file or its model has changed, or this torch cannot make it.
            KeyboardInterrupt: interrupted; nothing has changed.
        """

    @abstractmethod
    def describe(self, verify_findings: tuple[Finding, ...]) -> Record:
        """Its Record, without later results.

        Args:
            verify_findings: findings that only Verify shows.

        Raises:
            RuntimeError: it cannot be described; the text says whose fault that is.
        """

    def find(
        self, record: Record, verify_findings: tuple[Finding, ...]
    ) -> tuple[Finding, ...] | None:
        """Its findings, with their fixes; None where only those of the Record are known.

        Args:
            record: as `describe` gives it.
            verify_findings: findings that only Verify shows.
        """
        return None

    def weights(self, names: Collection[str]) -> Mapping[str, HeldWeight] | None:
        """Its parameters and buffers, by name; None where they are not at hand.

        Args:
            names: those that its signature has.
        """
        return None

    def constants(self) -> dict[str, bytes]:
        """The values of its constant tensors, as far as they are at hand."""
        return {}

    def drop(self, record: Record) -> StoredAttempt:
        """The same without its program, if that can be rebuilt.

        Args:
            record: the attempt, described.
        """
        return self

    def trust_file(self) -> StoredAttempt:
        """The same, of a file that the user trusts from now on."""
        return self


class _HasStored(Protocol):
    @property
    def stored(self) -> StoredAttempt: ...


class Lender(Protocol):
    """A Session, as its borrowers need it."""

    @property
    def entries(self) -> Sequence[_HasStored]:
        """All its attempts."""

    def attempt(self, number: int, wanted: str, progress: Report | None = None) -> Attempt:
        """An attempt with its program."""

    def trust(self, number: int) -> None:
        """Trusts the file of an attempt."""


@dataclass(frozen=True)
class BorrowedAttempt(StoredAttempt):
    """An attempt of another session, which keeps its program and knows how to rebuild it."""

    lender: Lender
    number: int

    @property
    def _own(self) -> StoredAttempt:
        return self.lender.entries[self.number].stored

    @property
    def live(self) -> Attempt | None:
        return self._own.live

    @property
    def ok(self) -> bool:
        return self._own.ok

    @property
    def request(self) -> Request | None:
        return self._own.request

    @property
    def in_file(self) -> bool:
        return self._own.in_file

    @property
    def untrusted(self) -> str:
        return self._own.untrusted

    @property
    def is_borrowed(self) -> bool:
        return True

    @property
    def is_slow(self) -> bool:
        return self._own.is_slow

    def load(self, parent: Callable[[], Exported], progress: Report | None = None) -> Attempt:
        return self.lender.attempt(self.number, "load", progress)

    def describe(self, verify_findings: tuple[Finding, ...]) -> Record:
        return self._own.describe(verify_findings)

    def find(
        self, record: Record, verify_findings: tuple[Finding, ...]
    ) -> tuple[Finding, ...] | None:
        return self._own.find(record, verify_findings)

    def weights(self, names: Collection[str]) -> Mapping[str, HeldWeight] | None:
        return self._own.weights(names)

    def constants(self) -> dict[str, bytes]:
        return self._own.constants()

    def trust_file(self) -> BorrowedAttempt:
        self.lender.trust(self.number)
        return self
